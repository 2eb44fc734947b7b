"""Why the partitioner moves an array from one sharding to another, as far as the program tells."""

import pytest

from app.learning.explorer.exploration_view import arrange_explored
from grader.explorer.description import explored
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")

START = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

pinned = jax.lax.with_sharding_constraint

"""
MATRICES = 'a: float32[64, 64] P("x", "y")\nb: float32[64, 64]'
CUBES = 'a: float32[16, 16, 16] P("y", None, "x")\nb: float32[16, 16, 16] P(None, ("x", "y"))'


def result_of(judge, body: str, inputs: str) -> Explored:
    return explored(judge.inspect_function(read_function("f", "x=4, y=2", inputs), START + body))


def reasons(result: Explored) -> list[tuple[str, int | None, int | None, int | None]]:
    [program] = result.programs
    return [(each.collective, each.line, each.constraint_line, each.consumer_line) for each in program.collectives]


def test_a_constraint_and_what_uses_the_array_are_named(judge):
    body = """\
def f(a, b):
    h = jnp.tanh(a)
    h = pinned(h, P("x", None))
    y = h @ b
    z = a @ b
    return y, z
"""
    result = result_of(judge, body, MATRICES)
    # What line 12 gathers or sums is for its product alone.
    assert ("all-gather", 9, 10, 11) in reasons(result)
    assert all(constraint is None for _, line, constraint, _ in reasons(result) if line == 12)
    view = arrange_explored(result)
    assert view.lines[10] == ("constraint of the all-gather on line 9",)
    table = view.meshes[0].program.collectives
    assert table is not None
    [row] = [each for each in table.rows if each.line == 9]
    assert row.cells[-1].notes == ("moves what line 10 constrains and line 11 uses",)


def test_a_constraint_on_an_argument_is_named(judge):
    body = """\
def f(a, b):
    a = pinned(a, P("x", None))
    return a @ b
"""
    assert reasons(result_of(judge, body, MATRICES)) == [("all-gather", 9, 9, 10)]


def test_a_constraint_on_a_result_has_nothing_that_uses_it(judge):
    body = """\
def f(a, b):
    y = jnp.sin(a)
    return pinned(y, P(None, ("x", "y"))), b
"""
    found = reasons(result_of(judge, body, MATRICES))
    assert found
    assert {each[1:] for each in found} == {(9, 10, None)}


def test_two_constraints_on_an_array_are_told_apart(judge):
    body = """\
def f(a, b):
    h = jnp.tanh(a)
    y = pinned(h, P(None, "x"))
    z = pinned(h, P("y", "x"))
    return jnp.sin(y), jnp.cos(z)
"""
    found = {each[1:] for each in reasons(result_of(judge, body, MATRICES))}
    assert found == {(10, 10, 12), (11, 11, 12)}


def test_a_constraint_is_not_named_for_another_array_of_its_size(judge):
    body = """\
def f(a, b):
    h = jnp.tanh(a)
    g = pinned(jnp.cos(b), P("x"))
    return jnp.sin(h.sum(0)), g, jnp.sort(h, axis=1)
"""
    found = reasons(result_of(judge, body, MATRICES))
    assert found
    assert {constraint for _, _, constraint, _ in found} == {None}


DIRECT = """\
def f(a, b):
    d = a * 2
    d = pinned(d, P(None, ("x", "y")))
    return d + b
"""


def test_gathering_a_whole_array_to_keep_a_part_is_said(judge):
    result = result_of(judge, DIRECT, CUBES)
    [program] = result.programs
    assert {(each.collective, each.kept_of) for each in program.collectives} == {("all-gather", 8)}
    assert {each.constraint_line for each in program.collectives} == {10}
    [warning] = arrange_explored(result).meshes[0].warnings
    assert (warning.before, warning.line) == ("At ", 10)
    assert "gathers a whole array and keeps 1/8 of it" in warning.after


def test_the_advice_about_it_holds(judge):
    stepwise = DIRECT.replace("    d = pinned", '    d = pinned(d, P("y", "x"))\n    d = pinned')
    result = result_of(judge, stepwise, CUBES)
    assert [each.collective for each in result.programs[0].collectives] == ["all-to-all"] * 2
    assert reasons(result)[1][2:] == (11, 12)
    assert not arrange_explored(result).meshes[0].warnings
    whole, steps = (
        sum(each.ring_bytes for each in found.programs[0].collectives)
        for found in (result_of(judge, DIRECT, CUBES), result)
    )
    assert (whole, steps) == (14_336, 2_560)


@pytest.mark.parametrize(
    "body",
    [
        # Written by hand, so nothing is involuntary.
        """\
def f(mesh, a, b):
    def local(a):
        whole = lax.all_gather(a, "x", axis=1, tiled=True)
        return lax.dynamic_slice(whole, (0, 16 * lax.axis_index("x")), (32, 16)) * 2

    return jax.shard_map(local, mesh=mesh, in_specs=P("y", "x"), out_specs=P("y", "x"), check_vma=False)(a) + b
""",
        # Every device uses all of it.
        'def f(a, b):\n    return pinned(a, P()) @ b\n',
        # It keeps a part, but the program returns the whole array, too.
        'def f(a, b):\n    whole = pinned(a, P())\n    return whole, pinned(whole * 2, P(("x", "y")))\n',
    ],
    ids=["by hand", "used whole", "returned"],
)  # fmt: skip
def test_a_gather_is_no_fault_if_it_is_wanted(judge, body):
    [program] = result_of(judge, body, MATRICES).programs
    assert "all-gather" in {each.collective for each in program.collectives}
    assert {each.kept_of for each in program.collectives} == {None}
