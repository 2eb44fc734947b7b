"""A package as a zip, read in memory: every bound is checked before anything is unpacked, and nothing is written.

Names need no check here: the package reader knows every file that a package may contain, and refuses the rest.
"""

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping

from app.core.errors import BodyNotZip, PackageRefused
from grader.package.fault import MANIFEST_FILE, PackageFault

MAX_ZIP_BYTES = 2 << 20
MAX_TEXT_BYTES = 4 << 20
MAX_FILES = 500
# Text that people write shrinks to about a tenth. Only small files may shrink more, such as one repeated line.
_MAX_RATIO = 100
_SMALL_BYTES = 64 << 10
LONGEST_NAME = 200
_ENCRYPTED = 0x1


def files_of(data: bytes) -> dict[str, str]:
    """The text of each file by its path. Line ends become those of a folder, so that the version does not differ.

    Raises:
      BodyNotZip: it is not a zip, or is damaged.
      PackageRefused: it contains something that a package may not. Nothing, or little, was unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _bounded(archive)
            read = {each.filename: _read(archive, each) for each in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BodyNotZip(f"The body cannot be read as a zip: {error}. Create one with: zip -r package.zip .") from None
    return decoded(read)


def zip_of(files: Mapping[str, str]) -> bytes:
    """The files as a zip, the same bytes each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980, whenever it is written
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return buffer.getvalue()


def _bounded(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of the archive, none of which has been read yet. Their stated sizes bound what reading them gives."""
    entries = [each for each in archive.infolist() if not _is_left_out(each)]
    if len(entries) > MAX_FILES:
        raise PackageRefused([too_many_files(len(entries))])
    total = sum(each.file_size for each in entries)
    if total > MAX_TEXT_BYTES:
        raise PackageRefused([too_many_bytes(total)])
    names = [each.filename for each in entries]
    faults = [fault for each in entries if (fault := _fault(each))]
    for name in sorted({each for each in names if names.count(each) > 1}):
        faults.append(PackageFault("misplaced-file", _shown(name), None, f"it contains {_shown(name)} twice"))
    if MANIFEST_FILE not in names and any(name.endswith(f"/{MANIFEST_FILE}") for name in names):
        message = "is in a folder: zip the files in it, not the folder itself (cd into it, then zip -r)"
        faults.append(PackageFault("missing-file", MANIFEST_FILE, None, f"{MANIFEST_FILE} {message}"))
    if faults:
        raise PackageRefused(faults)
    return entries


def _is_left_out(entry: zipfile.ZipInfo) -> bool:
    """As when a folder is read: folders themselves do not matter, and Python leaves caches beside files that it ran."""
    # Not `is_dir()`, which fails on an empty name: https://github.com/python/cpython/issues/98286
    return entry.filename.endswith("/") or "__pycache__" in entry.filename.split("/")


def too_many_files(number: int) -> PackageFault:
    message = f"the package has {number} files, but may have at most {MAX_FILES}"
    return PackageFault("misplaced-file", MANIFEST_FILE, None, message)


def too_many_bytes(number: int) -> PackageFault:
    message = f"the files of the package have {number} bytes, but may have at most {MAX_TEXT_BYTES}"
    return PackageFault("unreadable-file", MANIFEST_FILE, None, message)


def _fault(entry: zipfile.ZipInfo) -> PackageFault | None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    name = _shown(entry.filename)
    if len(entry.filename) > LONGEST_NAME:
        message = f"the name {name} is too long"
    elif kind not in (0, stat.S_IFREG):
        message = f"{name} is not a plain file (links and devices are not followed)"
    elif entry.flag_bits & _ENCRYPTED:
        message = f"{name} is encrypted"
    elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        message = f"{name} is not compressed with deflate"
    elif entry.file_size > max(_SMALL_BYTES, _MAX_RATIO * entry.compress_size):
        message = f"{name} grows more than {_MAX_RATIO}-fold when it is unpacked"
    else:
        return None
    return PackageFault("unreadable-file", name, None, message)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        # Never more than the size that was counted, whatever the archive contains. Then the checksum is compared.
        return file.read(entry.file_size)


def decoded(read: Mapping[str, bytes]) -> dict[str, str]:
    """Files as text, with the line ends of a folder. Raises `PackageRefused`."""
    files: dict[str, str] = {}
    faults: list[PackageFault] = []
    for name, data in read.items():
        try:
            files[name] = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            message = f"{_shown(name)} is not UTF-8 (byte {error.start})"
            faults.append(PackageFault("unreadable-file", _shown(name), None, message))
    if faults:
        raise PackageRefused(faults)
    return files


def _shown(name: str) -> str:
    return repr(name[:LONGEST_NAME])
