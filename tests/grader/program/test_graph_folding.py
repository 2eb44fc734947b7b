"""Folding a graph: few groups, without cycles as long as that is possible."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from grader.program.graph_folding import fold, fold_repeats, ordered

GRAPHS = st.lists(st.tuples(st.sampled_from("abc"), st.sets(st.integers(1, 6), max_size=3)), max_size=40)


def test_steps_with_one_key_become_one_group():
    assert fold({0: "f", 1: "f", 2: "g"}, {1: [0], 2: [1]}) == [[0, 1], [2]]


def test_a_group_ends_where_a_path_would_lead_back_to_it():
    # f, an exchange, and f again with its result.
    assert fold({0: "f", 1: "exchange", 2: "f"}, {1: [0], 2: [1]}) == [[0], [1], [2]]
    # A second exchange that does not wait for the first one joins it, and so does what uses both.
    keys = {0: "exchange", 1: "f", 2: "exchange", 3: "f"}
    assert fold(keys, {1: [0], 3: [1, 2]}) == [[0, 2], [1, 3]]


def test_layers_that_repeat_become_one_group_even_so():
    assert fold_repeats({0: "f", 1: "exchange", 2: "f"}) == [[0, 2], [1]]


def test_a_long_chain_takes_no_longer_than_its_groups_may_be():
    keys = dict(enumerate("ab" * 5_000))
    groups = fold(keys, {after: [before] for before, after in pairwise(keys)})
    assert sorted(step for group in groups for step in group) == list(keys)
    assert len(groups) > 150


@given(GRAPHS)
def test_groups_have_no_cycle_and_come_in_order(steps):
    keys = {number: key for number, (key, _) in enumerate(steps)}
    before = {
        number: sorted({number - each for each in back if each <= number}) for number, (_, back) in enumerate(steps)
    }
    groups = ordered(fold(keys, before), before)
    assert sorted(step for group in groups for step in group) == list(keys)
    home = {step: number for number, group in enumerate(groups) for step in group}
    assert all(home[source] <= home[step] for step, sources in before.items() for source in sources)
    assert all(len({keys[step] for step in group}) == 1 for group in groups)
