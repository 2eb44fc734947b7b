"""Lines of two texts are aligned by those that occur once in each, in linear time."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.core.web.alignment import align
from app.core.web.diff import diff_lines
from tests.growth import assert_linear

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), max_size=12)


@given(LINES, LINES)
def test_the_blocks_cover_both_texts_and_equal_ones_are_equal(a, b):
    blocks = list(align(a, b))
    assert [line for _, (start, end, _, _) in blocks for line in a[start:end]] == a
    assert [line for _, (_, _, start, end) in blocks for line in b[start:end]] == b
    for equal, (a0, a1, b0, b1) in blocks:
        assert (a0, b0) != (a1, b1)
        if equal:
            assert a[a0:a1] == b[b0:b1]
    assert all(one[0] != other[0] for one, other in pairwise(blocks))


def test_lines_that_occur_once_are_anchors():
    a = ["def f():", "    x = 1", "", "def g():", "    y = 2", ""]
    b = ["def f():", "    x = 3", "", "def h():", "", "def g():", "    y = 2", ""]
    assert list(align(a, b)) == [(True, (0, 1, 0, 1)), (False, (1, 2, 1, 4)), (True, (2, 6, 4, 8))]


def test_the_work_grows_with_the_text():
    """Repeated lines, and lines in the opposite order, which a matcher of the longest blocks compares in pairs."""
    for make in (
        lambda size: "a\nb\n" * (size // 4),
        lambda size: "\n".join(str(number) for number in range(size // 6)),
    ):
        assert_linear(lambda text: diff_lines(text, "\n".join(reversed(text.split("\n")))), make)
