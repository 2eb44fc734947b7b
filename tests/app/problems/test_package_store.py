"""Packages in the database: the same text comes back, damage is noticed, and one version of a problem is served."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from app.core.errors import PackageNotStored
from app.problems.models import PackageRow, PublishedRow
from app.problems.package_store import PackageStore
from grader.review.reader import package_of
from grader.verdicts.fingerprint import KnownFingerprint, KnownFingerprints
from grader.verdicts.pictures import Outline, Picture, Pictures

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(each_database):
    return PackageStore(each_database)


def changed(package, **files):
    return package_of(package.slug, package.files | files)


async def test_a_package_comes_back_as_it_was_read_from_its_folder(store, each_database, package):
    await store.add(package)
    await store.add(package)
    assert await PackageStore(each_database).get(package.version) == package


async def test_text_that_a_database_is_strict_about_comes_back(store, each_database, package):
    odd = changed(package, **{"statement.md": "a\0b \N{SNOWMAN} \r\n"})
    await store.add(odd)
    assert (await PackageStore(each_database).get(odd.version)).files == odd.files


async def test_a_version_that_is_not_there_is_refused(store, package):
    with pytest.raises(PackageNotStored, match="no package of version"):
        await store.get("0" * 64)
    with pytest.raises(PackageNotStored, match="no package of version"):
        await store.publish(package.slug, package.version)


@pytest.mark.parametrize(
    ("files", "said"),
    [({"statement.md": "Another."}, "has the hash"), ({"problem.toml": ""}, "damaged"), ({"x": "y"}, "damaged")],
)
async def test_a_package_that_was_changed_in_the_database_is_refused(store, each_database, package, files, said):
    await store.add(package)
    async with each_database.writing() as session:
        await session.execute(update(PackageRow).values(files=package.files | files))
    with pytest.raises(PackageNotStored, match=said):
        await store.get(package.version)


async def test_the_folder_is_published_until_an_instructor_publishes(store, package):
    new, newest = (changed(package, **{"statement.md": text}) for text in ("New.", "Newest."))
    await store.publish_folder([package])
    assert await store.published() == {"add_one": package.version}
    await store.publish_folder([new])
    assert await store.published() == {"add_one": new.version}
    await store.publish("add_one", package.version)
    await store.publish_folder([newest])
    assert await store.published() == {"add_one": package.version}
    assert (await store.get(newest.version)).statement == "Newest."


async def test_a_version_is_published_for_its_own_problem_only(store, package):
    await store.add(package)
    with pytest.raises(PackageNotStored, match="of 'another'"):
        await store.publish("another", package.version)


async def test_the_time_of_publishing_changes_with_the_version_alone(store, each_database, package):
    async def published_at():
        async with each_database.reading() as session:
            return (await session.get(PublishedRow, "add_one")).published_at

    await store.publish_folder([package])
    first = await published_at()
    await store.publish_folder([package])
    assert await published_at() == first


async def test_a_service_stores_what_it_serves(start_service, package):
    async with start_service() as service:
        assert await service.services[PackageStore].published() == {package.slug: package.version}
        assert await service.services[PackageStore].get(package.version) == package


def fingerprints(*of):
    return KnownFingerprints(jax="1.0", mistakes={each: KnownFingerprint(of=each) for each in of})


async def test_fingerprints_come_with_a_version_and_change_neither_it_nor_its_files(store, each_database, package):
    known = fingerprints("a")
    await store.add(replace(package, known=known))
    read = await PackageStore(each_database).get(package.version)
    assert (read.known, read.version, read.files) == (known, package.version, package.files)


async def test_pictures_come_with_a_version_or_later_and_change_neither_it_nor_its_files(store, each_database, package):
    outline = Outline(mesh={"x": 2}, inputs=[], collectives=[], outputs=[])
    one, other = (Pictures(jax=jax, variants={"": Picture(of="0", solution=outline)}) for jax in ("1.0", "2.0"))
    await store.add(package)
    elsewhere = PackageStore(each_database)
    assert (await elsewhere.get(package.version)).pictures is None
    await store.put_pictures(package.version, one)
    assert (await elsewhere.get(package.version)).pictures == one
    async with each_database.writing() as session:
        await session.execute(update(PackageRow).values(pictures={"of another": "release"}))
    assert (await PackageStore(each_database).get(package.version)).pictures is None
    for pictures in (other, None):
        await store.publish_folder([replace(package, pictures=pictures)])
    read = await PackageStore(each_database).get(package.version)
    assert (read.pictures, read.version, read.files) == (other, package.version, package.files)


async def test_fingerprints_are_found_by_who_has_read_the_version_before(store, each_database, package):
    await store.add(package)
    elsewhere = PackageStore(each_database)
    assert (await elsewhere.get(package.version)).known is None
    await store.put_known(package.version, fingerprints("a"))
    assert (await elsewhere.get(package.version)).known == fingerprints("a")


async def test_a_version_begins_with_the_fingerprints_of_the_one_before(store, package):
    """Those of what has changed are not used, because each names what it depends on."""
    new = changed(package, **{"statement.md": "New."})
    await store.add(replace(package, known=fingerprints("a")))
    await store.add(new)
    assert (await store.get(new.version)).known == fingerprints("a")


async def test_a_folder_brings_new_fingerprints_of_the_same_version(store, each_database, package):
    for known in (None, fingerprints("a"), fingerprints("a", "b"), None):
        await store.publish_folder([replace(package, known=known)])
    assert (await PackageStore(each_database).get(package.version)).known == fingerprints("a", "b")
