"""`Catalogue.seen`, on which the ETags of lists depend, changes with what is served, and only with that."""

from app.problems.catalogue import Catalogue
from app.problems.viewer import Viewer, viewed_by


def test_a_refresh_that_finds_the_same_private_versions_changes_nothing(package):
    catalogue = Catalogue([])
    catalogue.keep_private({package.version: package})
    before = catalogue.seen
    catalogue.keep_private({package.version: package})
    assert catalogue.seen == before


def test_other_private_versions_and_a_new_published_one_change_it(package):
    catalogue = Catalogue([])
    seen = [catalogue.seen]
    for change in (
        lambda: catalogue.keep_private({package.version: package}),
        lambda: catalogue.keep_private({}),
        lambda: catalogue.serve(package),
    ):
        change()
        seen.append(catalogue.seen)
    assert len({*seen}) == len(seen)


def test_viewers_of_the_same_private_problems_share_one_list(package):
    catalogue = Catalogue([])
    catalogue.keep_private({package.version: package})
    with viewed_by(Viewer(private={package.slug: package})):
        listed = catalogue.listed()
        assert [each.slug for section in listed for each in section.packages] == [package.slug]
    with viewed_by(Viewer(private={package.slug: package})):
        assert catalogue.listed() is listed
    with viewed_by(Viewer()):
        assert catalogue.listed() == ()
    catalogue.serve(package)
    with viewed_by(Viewer(private={package.slug: package})):
        # Now it is among the published ones, in a track.
        assert catalogue.listed() == catalogue.sections() != listed
