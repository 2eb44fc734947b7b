"""The map of prerequisites: the positions of its boxes, which are links that a reader can reach."""

import re

from app.core.web.drawings.prerequisites import Box, draw_map, place


def box(id, *needs, title="T", state="new"):
    return Box(id, title, f"/problems/{id}", state, needs)


def test_a_box_stands_right_of_all_that_it_needs():
    places = place([box("d", "a", "c"), box("a"), box("b", "a"), box("c", "b")])
    assert {id: column for id, (column, _) in places.items()} == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_no_two_boxes_share_a_place():
    boxes = [box("a"), box("b"), *[box(f"c{n}", "a") for n in range(5)], box("d", "b")]
    places = place(boxes)
    assert len(set(places.values())) == len(boxes)
    assert places["d"][1] > places["c4"][1]


def test_problems_that_need_each_other_or_themselves_are_drawn_all_the_same():
    boxes = [box("a", "b"), box("b", "a"), box("c", "c"), box("d", "unknown")]
    assert set(place(boxes)) == {"a", "b", "c", "d"}
    assert draw_map(boxes, "Map").count("<a ") == 4


def test_boxes_are_links_and_states_are_told_in_words():
    drawn = draw_map([box("a", title="A <b> & c", state="solved"), box("b", "a", state="tried")], "Map of it")
    assert 'role="group"' in drawn
    assert 'aria-label="Map of it"' in drawn
    assert 'href="/problems/a"' in drawn
    assert "A &lt;b&gt; &amp; c: solved" in drawn
    assert "✓" in drawn
    assert drawn.count('class="arrow"') == 1


def test_a_long_title_is_cut_to_two_lines():
    drawn = draw_map([box("a", title="one word after the other " * 6)], "Map")
    assert len(re.findall(r"<text[^>]*>[^<]*</text>", drawn)) == 2
    assert "…" in drawn


def test_nothing_is_drawn_of_nothing():
    assert "<a " not in draw_map([], "Map")
