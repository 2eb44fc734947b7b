"""The census crosses a boundary: what comes back is the same, or an error."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from grader.program.census import Census, from_json, read_aliases, take_census, to_json
from grader.program.memory import Memory
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import module

TEXT = module(
    "%a = f32[128,4] all-gather(%p), replica_groups=[1,8]<=[8], use_global_device_ids=true, channel_id=1",
    "%b = f32[16,4] collective-permute(%p), source_target_pairs={{0,1},{1,0}}",
    "%c = f32[16,16] dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    header="num_partitions=8, input_output_alias={ {}: (0, {}, may-alias) }",
)


@pytest.fixture
def census() -> Census:
    return take_census(TEXT, 8)


def test_what_is_written_is_read(census: Census) -> None:
    assert from_json(json.loads(json.dumps(to_json(census)))) == census
    assert census.aliases == ((0, 0),)
    assert (census.argument_bytes, census.output_bytes, census.alias_bytes) == ((256,), (4,), 4)
    assert census.dot_flops == 2 * 16 * 16 * 4


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every entry in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    if not path:
        return new
    inside = value
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = new
    return value


PLACES = list(places(to_json(take_census(TEXT, 8))))


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "x" * 3, {"a": 1}, float("nan"), [[[[]]]]], ids=repr)
def test_a_value_of_another_type_is_refused_wherever_it_stands(census: Census, wrong: object) -> None:
    written = to_json(census)
    for path in PLACES:
        same_type = any(type(found) is type(wrong) for found in [value_at(written, path)])
        if same_type and wrong != -1 and not isinstance(wrong, dict | list):
            continue
        with pytest.raises(ProgramUnreadable):
            from_json(changed(written, path, wrong))


def value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def test_a_missing_or_an_unknown_field_is_refused(census: Census) -> None:
    written = to_json(census)
    objects = [path for path in PLACES if isinstance(value_at(written, path), dict)]
    assert len(objects) == 9
    for path in objects:
        fields = value_at(written, path)
        for name in fields:
            less = {key: value for key, value in fields.items() if key != name}
            with pytest.raises(ProgramUnreadable, match=name):
                from_json(changed(written, path, less))
        with pytest.raises(ProgramUnreadable, match="surplus"):
            from_json(changed(written, path, fields | {"surplus": 1}))


@pytest.mark.parametrize(
    ("path", "new", "expected"),
    [
        (("collectives", 0, "kind"), "none", "unknown collective"),
        (("collectives", 0, "group_size"), 4, "group_size"),
        (("collectives", 0, "groups"), [[0, 1], [1, 2]], "group_size|two groups"),
        (("collectives", 0, "groups"), [[*range(7), 0]], "two groups"),
        (("collectives", 0, "dtypes"), [], "dtype"),
        (("dot_flops",), 1, "dot_flops"),
        (("dot_flops",), None, "dot_flops"),
        (("dots", 0, "executions"), None, "dot_flops"),
        (("aliases",), [[0, 0], [0, 0]], "twice"),
        (("aliases",), [[0, 1]], "does not exist"),
        (("aliases",), [[1, 0]], "does not exist"),
    ],
)
def test_fields_that_contradict_one_another_are_refused(
    census: Census, path: tuple[Any, ...], new: object, expected: str
) -> None:
    with pytest.raises(ProgramUnreadable, match=expected):
        from_json(changed(to_json(census), path, new))


@pytest.mark.parametrize("size", [0, 2])
def test_a_collective_without_groups_is_of_single_devices(census: Census, size: int) -> None:
    alone = changed(to_json(census), ("collectives", 0, "groups"), [])
    with pytest.raises(ProgramUnreadable, match="group_size"):
        from_json(changed(alone, ("collectives", 0, "group_size"), size))
    assert from_json(changed(alone, ("collectives", 0, "group_size"), 1)).collectives[0].groups == ()


@pytest.mark.parametrize(
    "aliases",
    [
        *("{ {0}: (0, {}) {0}: (1, {}) }", "{ {0} }", "{ {0}: 0 }", "{ {0}: (x, {}) }", "{ {0,1}: (0, {}) }"),
        *("{ {0}: (0, {1}) }", "{ {0}: (0, {}), {0}: (0, {}) }", "{ {0}: (7, {}) }", "{ {7}: (0, {}) }"),
        *("{ {-1}: (0, {}) }", "{ (0): (0, {}) }"),
    ],
)
def test_aliases_that_make_no_sense_are_refused(aliases: str) -> None:
    with pytest.raises(ProgramUnreadable, match="input_output_alias"):
        take_census(module(header=f"input_output_alias={aliases}"), 8)


@pytest.mark.parametrize(
    "parameters", ["%q = f32[] parameter(0)", "%q = f32[] parameter(2)", "%q = f32[] parameter(x)"]
)
def test_parameters_are_numbered(parameters: str) -> None:
    with pytest.raises(ProgramUnreadable, match="numbered"):
        take_census(module(parameters), 8)


def test_a_mesh_of_another_size_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="does not have 8 devices"):
        take_census(TEXT, 8, {"fsdp": 4})


def test_memory_is_read_as_strictly() -> None:
    memory = Memory(1, 2, 3, 4)
    assert Memory.from_json(json.loads(json.dumps(memory.to_json()))) == memory
    for wrong in ([1, 2, 3, 4], {"argument_bytes": 1}, memory.to_json() | {"alias_bytes": -4}):
        with pytest.raises(ProgramUnreadable, match="memory"):
            Memory.from_json(wrong)


def test_aliases_are_separated_by_commas() -> None:
    first, second = "{ 0 } : ( 0 , { } , may-alias )".split(), "{ 1 } : ( 2 , { } )".split()
    assert read_aliases(("{", *first, ",", *second, "}"), 2, 3) == ((0, 0), (1, 2))
    with pytest.raises(ProgramUnreadable, match="separated by commas"):
        read_aliases(("{", *first, *second, "}"), 2, 3)
