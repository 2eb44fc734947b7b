"""Sources that come with further modules: what they compile to, and where that is shown."""

import pytest

from grader.core.errors import SubmissionFault
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function, read_function

pytestmark = pytest.mark.xdist_group("explored functions")

MODEL = """
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from layers import dense


@jax.tree_util.register_dataclass
@dataclass
class Block:
    w: jax.Array

    def __call__(self, x):
        return jnp.sum(dense(x, self.w), -1)
"""
LAYERS = "def dense(x, w):\n    return x @ w\n"
SOURCE = """
from model import Block
import layers


def f(x, w):
    block = Block(w)
    first = layers.dense(x, w)
    return block(first)
"""


def function_with(**modules: str) -> Function:
    inputs = 'x: float32[16, 8] P(None, "model")\nw: float32[8, 8] P("model")'
    return read_function("f", "data=2, model=2", inputs, modules=modules)


def fault_with(judge, source: str, **modules: str) -> Explored:
    with pytest.raises(SubmissionFault) as refused:
        judge.inspect_function(function_with(**modules), source)
    return fault_of(refused.value, "source")


def test_what_a_module_costs_is_at_the_line_that_called_it(judge):
    [program] = explored(judge.inspect_function(function_with(model=MODEL, layers=LAYERS), SOURCE)).programs
    assert {each.line for each in program.collectives} == {8, 9}
    assert {each.line for each in program.flops_by_line} == {8, 9}
    lines = {each.line for computation in program.stablehlo for each in computation.instructions}
    assert lines - {None} == {8, 9}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("from layers import dense as f\n", 1),
        ("import layers\n\nf = layers.dense\n", 3),
        ("import jax\nimport layers\nf = jax.jit(layers.dense)\n", 3),
        ("if True:\n    from layers import dense as f\n", None),
    ],
    ids=["imported", "assigned", "jitted", "nested"],
)
def test_what_an_imported_function_costs_is_at_the_line_that_names_it(judge, source, line):
    [program] = explored(judge.inspect_function(function_with(layers=LAYERS), source)).programs
    assert {each.line for each in program.collectives} == {line}
    assert {each.line for each in program.flops_by_line} == {line}


def test_an_error_in_a_module_names_it_and_the_line_that_led_there(judge):
    broken = LAYERS.replace("x @ w", "x @ w[1:]")
    fault = fault_with(judge, SOURCE, model=MODEL, layers=broken).fault
    assert (fault.line, fault.reason) == (8, "error")
    assert "\nRaised in layers.py, line 2, in dense:\n    return x @ w[1:]" in fault.message


def test_what_cannot_be_exported_names_the_module_too(judge):
    branching = "def dense(x, w):\n    return x if x.sum() > 0 else w\n"
    fault = fault_with(judge, SOURCE, model=MODEL, layers=branching).fault
    assert (fault.line, fault.reason) == (8, "not_exportable")
    assert "Raised in layers.py, line 2, in dense:" in fault.message


def test_a_syntax_error_in_a_module_names_it_and_the_import(judge):
    fault = fault_with(judge, SOURCE, model=MODEL, layers="def dense(x w):\n    pass\n").fault
    assert (fault.line, fault.reason) == (2, "syntax_error")
    assert fault.message.startswith("SyntaxError on line 1 of layers.py, column 13")
    assert "Raised in model.py, line 6, in <module>:" in fault.message


def test_a_mesh_that_a_module_makes_is_the_mesh(judge):
    mesh = 'import jax\n\nmesh = jax.make_mesh((2, 2), ("data", "model"))\n'
    source = "import layers\nfrom mesh import mesh\n\ndef f(x, w):\n    return layers.double(w)\n"
    [program] = explored(
        judge.inspect_function(function_with(mesh=mesh, layers="def double(w):\n    return 2 * w\n"), source)
    ).programs
    assert program.remarks == ["The axes data and model are Explicit, as in the mesh that line 2 makes."]


def test_an_error_of_an_imported_function_is_at_the_line_that_names_it(judge):
    source = "from layers import dense as f\n"
    fault = fault_with(judge, source, layers=LAYERS.replace("x @ w", "x @ w[1:]")).fault
    assert fault.line == 1
    assert "Raised in layers.py, line 2, in dense:" in fault.message
