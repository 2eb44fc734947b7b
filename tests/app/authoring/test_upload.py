"""Uploading a package: stored as a version, or refused with every error; a hostile zip unpacks nothing."""

import contextlib
import io
import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.authoring.package_zip import MAX_ZIP_BYTES, files_of
from app.core.errors import BodyNotZip, PackageRefused
from app.problems.package_store import PackageStore
from grader.package.fault import PackageInvalid
from grader.review.reader import package_of
from tests.app.authoring.zips import ZIP, another, upload, zipped
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio
NEW = FILES | {"statement.md": "Add one, newly."}


async def test_a_package_is_kept_as_a_version_and_not_served(either):
    answer = await upload(either, NEW)
    version = package_of("add_one", NEW).version
    assert (answer.status_code, answer.json()) == (
        201,
        {"problem": "add_one", "version": version, "published": False},
    )
    assert (await either.services[PackageStore].get(version)).statement == "Add one, newly."
    assert (await either.http.get("/api/v1/problems/add_one")).json()["statement"] == "Add one."


async def test_a_version_that_is_there_is_told_again(either, package):
    served = await upload(either, FILES)
    assert (served.status_code, served.json()["version"], served.json()["published"]) == (200, package.version, True)
    assert (await upload(either, NEW)).status_code == 201
    again = await upload(either, NEW)
    assert (again.status_code, again.json()["published"]) == (200, False)


async def test_a_problem_that_nobody_knew_can_be_uploaded(either):
    assert (await upload(either, another("add_two"), "add_two")).status_code == 201


async def test_the_uuid_of_another_problem_is_refused(service):
    copied = FILES | {"problem.toml": FILES["problem.toml"].replace('"add_one"', '"add_two"', 1)}
    answer = await upload(service, copied, "add_two")
    assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")
    assert "belongs to the problem 'add_one'" in "\n".join(answer.json()["faults"])


async def test_a_prerequisite_that_is_not_served_is_refused(service):
    wanting = FILES["problem.toml"].replace('mode = "call"', 'mode = "call"\nprerequisites = ["ad_one"]')
    answer = await upload(service, another("add_two", wanting), "add_two")
    assert answer.status_code == 422
    assert answer.json()["faults"] == [
        "problem.toml: prerequisites: there is no problem 'ad_one' (did you mean 'add_one'?)"
    ]


async def test_a_misspelt_entry_is_refused(service):
    wrong = FILES["problem.toml"].replace('entry = "add_one"', 'entry = "ad_one"')
    answer = await upload(service, FILES | {"problem.toml": wrong})
    told = "\n".join(answer.json()["faults"])
    assert "entry: reference.py does not define 'ad_one' (did you mean 'add_one'?)" in told


async def test_the_slug_of_the_address_must_be_the_manifests(either):
    answer = await upload(either, NEW, "add_two")
    assert (answer.status_code, answer.json()["slug"]) == (409, "package-of-another-problem")
    assert "/problems/add_one" in answer.json()["detail"]


async def test_a_package_cannot_ask_for_more_than_the_operator_permits(start_service):
    async with start_service(package_memory_mb=1024) as service:
        asking = NEW | {"problem.toml": FILES["problem.toml"] + "\n[limits]\nmemory_mb = 65536\n"}
        answer = await upload(service, asking)
        assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")
        (told,) = answer.json()["faults"]
        assert "limits.memory_mb is 65536; this service permits at most 1024 MiB" in told


async def test_all_that_is_wrong_with_a_package_is_told(either):
    wrong = NEW | {"problem.toml": FILES["problem.toml"].replace("title =", "titel ="), "statment.md": "x"}
    answer = await upload(either, wrong)
    assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")
    told = "\n".join(answer.json()["faults"])
    assert "unknown key 'titel' (did you mean 'title'?)" in told
    assert "statment.md does not belong in a package (did you mean 'statement.md'?)" in told


@pytest.mark.parametrize(
    ("content", "headers", "status", "slug"),
    [
        (b"no zip", ZIP, 400, "body-not-zip"),
        (b"", ZIP, 400, "body-not-zip"),
        (zipped(NEW)[:-30], ZIP, 400, "body-not-zip"),
        (b"x" * (MAX_ZIP_BYTES + 1), ZIP, 413, "body-too-large"),
        (zipped(NEW), {"Content-Type": "application/json"}, 415, "content-type-not-zip"),
        (zipped(NEW), {}, 415, "content-type-not-zip"),
    ],
)
async def test_what_is_no_zip_is_refused(start_service, content, headers, status, slug):
    async with start_service() as service:
        answer = await service.http.put("/api/v1/problems/add_one", content=content, headers=service.bearer | headers)
        assert (answer.status_code, answer.json()["slug"]) == (status, slug)


@pytest.mark.parametrize(
    "name", ["../problem.md", "/etc/passwd", "a/../../b.md", "C:\\x.md", "figures/x/y.svg", "figures/x.png", "\x01.md"]
)
def test_only_what_belongs_in_a_package_is_in_it(name):
    with pytest.raises(PackageInvalid, match="does not belong in a package"):
        package_of(None, files_of(zipped(NEW | {name: "x"})))


def test_a_byte_order_mark_belongs_to_no_text():
    marked = {name: b"\xef\xbb\xbf" + text.encode() for name, text in NEW.items()}
    assert files_of(zipped(marked)) == files_of(zipped(NEW))


def odd(change) -> bytes:
    """The package with one more file, which `change` makes unusual."""
    buffer = io.BytesIO(zipped(NEW))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo("hints.svg")
        entry.compress_type = zipfile.ZIP_DEFLATED
        change(archive, entry)
    return buffer.getvalue()


def link(archive, entry):
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(entry, "/etc/passwd")


def device(archive, entry):
    entry.external_attr = (stat.S_IFCHR | 0o666) << 16
    archive.writestr(entry, "")


def bomb(archive, entry):
    archive.writestr(entry, "0" * (2 << 20))


def packed_otherwise(archive, entry):
    entry.compress_type = zipfile.ZIP_LZMA
    archive.writestr(entry, "x")


def twice(archive, entry):
    archive.writestr("hints.svg", "x")
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("hints.svg", "y")


def many(archive, entry):
    for number in range(600):
        archive.writestr(f"figures/f{number}.svg", "")


def huge(archive, entry):
    for number in range(9):
        archive.writestr(f"figures/f{number}.svg", bytes(range(256)) * 2048)


def long_name(archive, entry):
    archive.writestr("x" * 5000, "")


def no_text(archive, entry):
    archive.writestr(entry, b"ab\xff")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (link, "is not a plain file"),
        (device, "is not a plain file"),
        (bomb, "100-fold"),
        (packed_otherwise, "not compressed with deflate"),
        (twice, " twice"),
        (many, "at most 500"),
        (huge, "at most 4194304"),
        (long_name, "is too long"),
        (no_text, "is not UTF-8 \\(byte 2\\)"),
    ],
)
def test_a_zip_that_could_do_harm_is_refused(change, said):
    data = odd(change)
    with pytest.raises(PackageRefused, match=said) as refusal:
        files_of(data)
    assert len(str(refusal.value)) < 1000


def test_a_file_without_a_name_has_no_place():
    data = odd(lambda archive, entry: archive.writestr(zipfile.ZipInfo(""), "x"))
    with pytest.raises(PackageInvalid, match="does not belong in a package"):
        package_of(None, files_of(data))


def test_an_encrypted_file_is_refused():
    data = bytearray(zipped(NEW))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(PackageRefused, match="is encrypted"):
        files_of(bytes(data))


def test_a_file_that_is_longer_than_the_zip_says_is_not_unpacked():
    data = bytearray(zipped({"problem.toml": "a" * 50_000}))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (10).to_bytes(4, "little")
    with pytest.raises(BodyNotZip, match="CRC"):
        files_of(bytes(data))


def test_a_folder_that_was_zipped_as_a_whole_says_what_to_do():
    with pytest.raises(PackageRefused, match="zip the files in it"):
        files_of(zipped({f"add_one/{name}": text for name, text in NEW.items()}))


def test_the_same_folder_has_the_same_version_either_way(package):
    files = {name: text.replace("\n", "\r\n") for name, text in package.files.items()}
    with_folders = {"figures/": "", "__pycache__/x.pyc": b"\xff"} | files
    assert package_of("add_one", files_of(zipped(with_folders))).version == package.version


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("problem.toml", "a = " + "[" * 5000),
        ("submissions/accepted/deep.py", "-" * 100_000 + "1"),
        ("submissions/accepted/deep.py", "(" * 5000),
        ("problem.toml", FILES["problem.toml"] + "\n[tolerance.float32]\nrtol = 0.0\natol = inf\n"),
    ],
)
async def test_a_file_that_would_overwhelm_its_reader_is_a_fault(start_service, name, text):
    async with start_service() as service:
        answer = await upload(service, NEW | {name: text})
        assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")


GOOD_ZIP = zipped(NEW)


@given(at=st.integers(0, len(GOOD_ZIP)), cut=st.integers(0, 40), put=st.binary(max_size=40))
def test_a_damaged_zip_is_read_or_refused_and_nothing_else(at, cut, put):
    with contextlib.suppress(BodyNotZip, PackageRefused):
        files_of(GOOD_ZIP[:at] + put + GOOD_ZIP[at + cut :])
