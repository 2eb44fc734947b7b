"""Browser tests are divided into groups that take about the same time."""

from collections import Counter
from pathlib import Path

from tests.browser.groups import LONG_S, NUMBER, OTHER_S, group_name, grouped
from tests.slow_tests import LONGEST

FILES = [path.stem for path in (Path(__file__).parent / "browser").glob("test_*.py")]


def test_a_file_is_in_one_group_and_all_groups_take_about_the_same_time():
    found = grouped(FILES)
    assert found == grouped(reversed(FILES))
    assert sorted(found) == sorted(FILES)
    seconds = Counter({group_name(number): 0 for number in range(1, NUMBER + 1)})
    for file, group in found.items():
        seconds[group] += LONG_S.get(file, OTHER_S)
    assert max(seconds.values()) - min(seconds.values()) <= 60


def test_files_with_a_known_time_exist():
    assert set(FILES) >= LONG_S.keys()


def test_every_group_starts_among_the_longest():
    assert [name for name in LONGEST if name.startswith("browser")] == [group_name(n) for n in range(1, NUMBER + 1)]
