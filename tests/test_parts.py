"""Which tests and which submissions belong to a part of a run."""

import pytest

from tests import parts

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.parts")


def test_the_parts_hold_every_submission_once():
    names = [f"submission-{number}" for number in range(21)]
    found = [parts.part_of(names, f"{number}/8") for number in range(1, 9)]
    assert sorted(name for part in found for name in part) == sorted(names)
    assert {len(part) for part in found} == {2, 3}
    assert parts.part_of(names, parts.EVERY) == names


@pytest.mark.parametrize(("part", "passed"), [("3/8", 2), ("4/8", 1), ("all", 2)])
def test_a_marked_test_runs_in_its_part_and_with_all(pytester, monkeypatch, part, passed):
    monkeypatch.setattr(parts, "PART", part)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.part(3)
        def test_of_a_part(): ...
        def test_of_every_part(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)
