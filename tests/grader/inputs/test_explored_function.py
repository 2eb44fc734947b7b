"""Reading the mesh and the inputs of a function, as a person writes them."""

import re

import pytest

from grader.inputs.explored_function import Function, faults_of, read_function


def test_what_is_written_is_read_and_written_again():
    function = read_function(
        " f ",
        "data = 4,model=2",
        'x: float32[8, 16] P("data", None)\n\ns/0/w:bfloat16[16]P(("data","model"))\n k : int32[]\n',
    )
    assert (function.name, function.mesh, function.devices) == ("f", {"data": 4, "model": 2}, 8)
    assert [(each.name, each.dtype, each.shape, each.spec) for each in function.inputs] == [
        ("x", "float32", [8, 16], ["data", ""]),
        ("s/0/w", "bfloat16", [16], [["data", "model"]]),
        ("k", "int32", [], []),
    ]
    assert function.mesh_text == "data=4, model=2"
    assert function.inputs_text == (
        'x: float32[8, 16] P("data", None)\ns/0/w: bfloat16[16] P(("data", "model"))\nk: int32[]'
    )
    assert read_function(function.name, function.mesh_text, function.inputs_text) == function


def test_static_values_explicit_axes_and_a_state_are_read_and_written_again():
    inputs = "n = 3\nmode = 'train'\nrate = -0.5\nfast = True\nnone = None\nkey: key<fry>[]"
    function = read_function("f", "data=4!, model=2", inputs, "init")
    assert (function.explicit, function.init) == (["data"], "init")
    assert [each.value for each in function.inputs[:5]] == [3, "train", -0.5, True, None]
    assert (function.mesh_text, function.inputs_text) == ("data=4!, model=2", inputs)
    assert read_function("f", function.mesh_text, function.inputs_text, "init") == function
    assert Function.model_validate_json(function.model_dump_json()) == function


def test_a_state_can_be_the_only_input():
    assert read_function("f", "a=4", "", "init").inputs == []


def test_an_explicit_axis_is_one_of_the_mesh():
    function = read_function("f", "a=4", "x: float32[8]")
    assert faults_of(function.model_copy(update={"explicit": ["b"]})) == [
        "The mesh has no axis 'b', so it cannot be Explicit. Its axes are a."
    ]


X = "x: float32[8]"


@pytest.mark.parametrize(
    ("name", "mesh", "inputs", "message"),
    [
        ("f x", "a=4", X, "'f x' cannot be the name of a function"),
        ("", "a=4", X, "'' cannot be the name of a function"),
        ("f", "", X, "The mesh cannot be read at ''"),
        ("f", "a=4,b", X, "The mesh cannot be read at 'b'. Write it as data=4, model=2."),
        ("f", "a=0", X, "The axis a has no devices"),
        ("f", "a=2, a=2", X, "two axes named a"),
        ("f", "a=64, b=8", X, "has 512 devices. At most 256"),
        ("f", "a=257", X, "The axis a has 257 devices. At most 256"),
        ("f", "a=1,b=1,c=1,d=1,e=1", X, "at most 4 items"),
        ("f", "a=4", "  \n", "There is no input"),
        ("f", "a=4", f"{X}\n\nx float32[8]", "Line 3 of the inputs cannot be read: 'x float32[8]'"),
        ("f", "a=4", "x: float32[0]", "Line 1 of the inputs: the shape [0] cannot be read"),
        ("f", "a=4", "x: float32[8,,8]", "the shape [8,,8] cannot be read"),
        ("f", "a=4", "x: float32[8] P(a)", "the spec P(a) cannot be read"),
        ("f", "a=4", 'x: float32[8] P(1, "a")', "cannot be read. An entry is an axis in quotes"),
        ("f", "a=4", "x: float32[8] P(()" + ")", "cannot be read"),
        ("f", "a=4", f"x: float32[8] P({'(' * 90}", "cannot be read"),
        ("f", "a=4", "x: float32[" + "8," * 200 + "]", "cannot be read"),
        ("f", "a=4", "x: f32[8]", "x: there is no dtype f32"),
        ("f", "a=4", f"{X}\n{X}", "Two inputs have the name x"),
        (
            "f",
            "a=4",
            f"{X}\nx/w: float32[8]",
            "x is an array, so it cannot contain x/w. Give one",
        ),
        ("f", "a=4", f"s/{X}\ns/x/0/w: float32[8]", "s/x is an array, so it cannot contain s/x/0/w."),
        ("f", "a=4", "x/: float32[8]", "Line 1 of the inputs cannot be read: 'x/: float32[8]'"),
        ("f", "a=4", "0/x: float32[8]", "Line 1 of the inputs cannot be read"),
        ("f", "a=4", f"{'x/' * 8}x: float32[8]", "Line 1 of the inputs cannot be read"),
        ("f", "a=4", 'x: float32[8] P("b")', "the mesh has no axis 'b'. Its axes are a."),
        ("f", "a=4", 'x: float32[8, 8] P("a", "a")', "names the axis a twice"),
        ("f", "a=4", 'x: float32[8] P("a", None)', "its spec has 2 entries, and its shape 1 dimension."),
        ("f", "a=4", 'x: float32[8, 6] P(None, "a")', "dimension 1 has 6 elements, which a cannot split into 4"),
        ("f", "a=2,b=2", 'x: float32[6] P(("a", "b"))', "which a and b cannot split into 4"),
        ("f", "a=4", "x: float32[2147483648, 2147483648]", "bytes. At most"),
        ("f", "a=4", "x: float32[99999999999]", "less than or equal to"),
        pytest.param(
            "f", "a=4", "\n".join(f"x{number}: float32[8]" for number in range(1025)), "at most 1024 items", id="leaves"
        ),
        ("f", "a=4!!", X, "The mesh cannot be read at 'a=4!!'"),
        ("f", "a=4", "n = a", "Line 1 of the inputs: the value 'a' of n cannot be read. Write a number, a string in"),
        ("f", "a=4", "n = [1]", "the value '[1]' of n cannot be read"),
        ("f", "a=4", "n = 1e999", "the value '1e999' of n cannot be read"),
        ("f", "a=4", f"n = {'(' * 50}", "cannot be read"),
        ("f", "a=4", "x/n = 1", "x/n: only arrays can be leaves of an argument. Name a whole argument."),
        ("f", "a=4", "x == 1", "Line 1 of the inputs cannot be read"),
    ],
)
def test_what_is_wrong_is_named_with_the_remedy(name, mesh, inputs, message):
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        read_function(name, mesh, inputs)
    assert "\n" not in str(refused.value)


def test_every_input_that_does_not_fit_is_named():
    given = {"dtype": "float32", "shape": [6], "spec": ["a"]}
    function = Function.model_validate({"name": "f", "mesh": {"a": 4}, "inputs": [given | {"name": n} for n in "xy"]})
    assert [fault[:2] for fault in faults_of(function)] == ["x:", "y:"]
