"""Placing boxes in layers: below what leads to them, beside one another, in a bounded time."""

import time

from hypothesis import given
from hypothesis import strategies as st

from app.presentation.drawings.layers import Layout, place

SIZE = (100.0, 40.0)


def placed(number: int, edges: list[tuple[int, int]], widest: float = 400.0) -> Layout:
    return place([SIZE] * number, edges, widest)


def test_each_box_is_below_what_leads_to_it():
    layout = placed(4, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)])
    tops = [y for _, y in layout.corners]
    assert tops[0] < tops[1] == tops[2] < tops[3]
    for (source, target), path in zip([(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)], layout.paths, strict=True):
        assert path[0][1] == tops[source] + SIZE[1]
        assert path[-1][1] == tops[target]
        assert [y for _, y in path] == sorted(y for _, y in path)


def test_a_chain_is_straight():
    layout = placed(3, [(0, 1), (1, 2)])
    assert len({x for x, _ in layout.corners}) == 1
    assert len({x for path in layout.paths for x, _ in path}) == 1


def test_what_is_needed_late_comes_late():
    layout = placed(4, [(0, 1), (1, 3), (2, 3)])
    assert layout.corners[2][1] == layout.corners[1][1]


def test_a_layer_is_no_wider_than_it_may_be():
    layout = placed(9, [(0, each) for each in range(1, 9)], widest=350.0)
    rows: dict[float, int] = {}
    for _, y in layout.corners:
        rows[y] = rows.get(y, 0) + 1
    assert max(rows.values()) == 3


def test_nothing_takes_no_room():
    assert place([], [], 400.0) == Layout((), (), 0.0, 0.0)


GRAPHS = st.integers(1, 14).flatmap(
    lambda number: st.tuples(
        st.just(number),
        st.sets(
            st.tuples(st.integers(0, number - 1), st.integers(0, number - 1)).filter(lambda edge: edge[0] < edge[1])
        ),
    )
)


@given(GRAPHS)
def test_no_boxes_overlap_and_a_graph_is_placed_alike_each_time(graph):
    number, edges = graph
    layout = placed(number, sorted(edges))
    assert layout == placed(number, sorted(edges))
    for one in range(number):
        for other in range(one):
            (x, y), (left, top) = layout.corners[one], layout.corners[other]
            assert abs(x - left) >= SIZE[0] or abs(y - top) >= SIZE[1]
    assert all(x >= 0 and x + SIZE[0] <= layout.width + 1e-6 for x, _ in layout.corners)


def test_the_largest_graph_is_placed_within_a_second():
    started = time.thread_time()
    placed(44, [(one, other) for one in range(44) for other in range(one + 1, 44, 3)])
    assert time.thread_time() - started < 5
