"""Replica groups, in each of the forms that XLA prints, name the same devices."""

import itertools
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.program.axes import axes_of, axes_of_pairs, groups_on
from grader.program.groups import Groups, connected, read_groups, read_pairs
from grader.program.tokens import ProgramUnreadable, cut_hlo


def tokens(text: str) -> tuple[str, ...]:
    cut = cut_hlo(text)
    return tuple(cut.items[: cut.end])


def groups(text: str, members: int = 8) -> Groups:
    return read_groups(tokens(text), members)


ALL = (tuple(range(8)),)
HALVES = ((0, 1, 2, 3), (4, 5, 6, 7))
PAIRS = ((0, 4), (1, 5), (2, 6), (3, 7))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ALL),
        ("{{}}", ALL),
        ("{{0,1,2,3},{4,5,6,7}}", HALVES),
        ("{{3,1},{0}}", ((3, 1), (0,))),
        ("[1,8]<=[8]", ALL),
        ("[2,4]<=[8]", HALVES),
        ("[4,2]<=[2,4]T(1,0)", PAIRS),
        ("[2,4]<=[4,2]T(1,0)", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("[4,2]<=[2,2,2]T(1,0,2)", ((0, 1), (4, 5), (2, 3), (6, 7))),
        ("mesh['axis_0'=8] {'axis_0'}", ALL),
        ("mesh['axis_0'=8,'axis_1'=1] {'axis_0'}", ALL),
        ("mesh['axis_0'=1,'axis_1'=8] {'axis_1'}", ALL),
        ("mesh[data=2,fsdp=4] {fsdp}", HALVES),
        ("mesh['a'=2,'b'=4] {'b'}", HALVES),
        ("mesh['a'=2,'b'=4] {'a'}", PAIRS),
        ("mesh['a'=2,'b'=4] {'a','b'}", ALL),
        ("mesh['a'=2,'b'=4] {'b','a'}", ((0, 4, 1, 5, 2, 6, 3, 7),)),
        ("mesh['a'=2,'b'=4] {}", tuple((device,) for device in range(8))),
        ("mesh['a'=8] {'a':(1)2}", PAIRS),
        ("mesh['a'=8] {'a':(2)4}", HALVES),
        ("mesh['a'=8] {'a':(2)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['a'=8] {'a':(1)2,'a':(4)2}", ((0, 1, 4, 5), (2, 3, 6, 7))),
        ("mesh['a'=2,'b'=4] {'a','b':(1)2}", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'a'}", HALVES),
        ("mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'b'}", ((3, 1), (2, 0))),
    ],
)
def test_groups_are_those_on_paper(text: str, expected: Groups) -> None:
    assert groups(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("{{0,1},{1,2}}", "{{0,8}}", "{{0,-1}}", "{0,1}", "{{0,1}{2,3}}", "{{0,1},}", "{{0,,1}}", "{{a}}", "{{{0}}}"),
        *("[2,4]<=[9]", "[2,2]<=[8]", "[8]<=[8]", "[2,4]<=[4,2]T(0,0)", "[2,4]<=[4,2]T(1)", "[2,4]", "[2,4]<=[8]x"),
        *("[9999999999,1]<=[9999999999]", f"[1,8]<=[{'1,' * 70}8]"),
        *("mesh", "mesh['a'=8]", "mesh['a'=9] {'a'}", "mesh['a'=8] {'b'}", "mesh['a'=0] {'a'}", "mesh[] {}"),
        *(
            "mesh['a'=2,'a'=4] {'a'}",
            "mesh['a'=8] {'a','a'}",
            "mesh{'a'}['a'=8]",
            "maximal_mesh[device_id=0] {}",
            "@other",
        ),
        *("mesh['a'=8] {'a':(3)2}", "mesh['a'=8] {'a':(1)2x}", "mesh['a'=8] {'a':(1)16}"),
        *("mesh['a'=8], device_ids=(0,1) {'a'}", "mesh['a'=2], device_ids=(0,0) {'a'}"),
        *("mesh['a'=2], device_ids=([3]T(0)) {'a'}", "mesh['a'=2], device_ids=([2]T(0)x) {'a'}"),
    ],
)
def test_groups_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ProgramUnreadable):
        groups(text)


sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@given(sizes, st.data())
def test_every_form_of_the_same_groups_gives_the_same_groups(sizes: list[int], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.sampled_from(range(len(sizes))), unique=True).map(sorted))
    members = prod(sizes)
    others = [axis for axis in range(len(sizes)) if axis not in axes]
    size = prod(sizes[axis] for axis in axes)
    order = ",".join(map(str, [*others, *axes]))
    iota = groups(f"[{members // size},{size}]<=[{','.join(map(str, sizes))}]T({order})", members)
    named = ",".join(f"'axis_{axis}'={size}" for axis, size in enumerate(sizes))
    chosen = ",".join(f"'axis_{axis}'" for axis in axes)
    mesh = groups(f"mesh[{named}] {{{chosen}}}", members)
    listed = groups("{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in iota) + "}", members)
    assert iota == mesh == listed
    assert sorted(itertools.chain(*iota)) == list(range(members))
    assert {len(group) for group in iota} == {size}


@given(sizes, st.data())
def test_axes_are_found_again_in_the_groups_along_them(sizes: list[int], data: st.DataObject) -> None:
    mesh = {f"axis{axis}": size for axis, size in enumerate(sizes)}
    axes = data.draw(st.lists(st.sampled_from(sorted(mesh)), unique=True))
    expected = tuple(axis for axis in mesh if axis in axes and mesh[axis] > 1)
    assert axes_of(groups_on(axes, mesh), mesh) == expected


MESH = {"data": 2, "fsdp": 4}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ALL, ("data", "fsdp")),
        (HALVES, ("fsdp",)),
        (((3, 2, 1, 0), (7, 4, 5, 6)), ("fsdp",)),
        (PAIRS, ("data",)),
        (tuple((device,) for device in range(8)), ()),
        (((0, 1), (2, 3), (4, 5), (6, 7)), None),
        (((0, 1, 2, 3),), None),
        (((0, 1, 2, 4), (3, 5, 6, 7)), None),
        (((0, 1, 2, 3, 4, 5, 6, 7, 8),), None),
        ((), None),
    ],
)
def test_axes_are_exact_or_none(found: Groups, expected: tuple[str, ...] | None) -> None:
    assert axes_of(found, MESH) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (((0, 1), (1, 2), (2, 3)), ("fsdp",)),
        (((0, 4),), ("data",)),
        (((3, 4),), ("data", "fsdp")),
        (((0, 2), (1, 3)), ("fsdp",)),
        (((5, 5),), ()),
        (((0, 8),), None),
    ],
)
def test_pairs_stay_within_the_fewest_axes(
    pairs: tuple[tuple[int, int], ...], expected: tuple[str, ...] | None
) -> None:
    assert axes_of_pairs(pairs, MESH) == expected


def test_pairs_connect_devices() -> None:
    assert connected(((0, 1), (1, 2), (5, 4))) == ((0, 1, 2), (4, 5))


@pytest.mark.parametrize(
    "text", ["{{0,1},{0,2}}", "{{0,1},{2,1}}", "{{0}}", "{{0,1,2}}", "{{0,8}}", "{0,1}", "{{0,1},{}}x"]
)
def test_pairs_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ProgramUnreadable):
        read_pairs(tokens(text), 8)
