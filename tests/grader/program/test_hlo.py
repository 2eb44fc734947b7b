"""HLO text gives the same computations in every form that XLA prints."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.program.hlo import read_hlo
from grader.program.shapes import Shape, ShapeTree, leaves
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import module


@dataclass(frozen=True)
class Style:
    """How to print."""

    percent: bool
    layouts: bool
    operand_types: bool
    comments: bool

    def name(self, name: str) -> str:
        return f"%{name}" if self.percent else name

    def shape(self, tree: ShapeTree) -> str:
        if isinstance(tree, Shape):
            layout = "{" + ",".join(map(str, reversed(range(len(tree.dims))))) + ":T(8,128)}" if self.layouts else ""
            return f"{tree}{layout}"
        comment = "/*index=5*/" if self.comments else ""
        return "(" + f", {comment}".join(self.shape(child) for child in tree) + ")"


@dataclass(frozen=True)
class Line:
    name: str
    shape: ShapeTree
    opcode: str
    operands: tuple[str, ...]
    attributes: dict[str, tuple[str, ...]]


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,6}(-[a-z0-9]{1,3})?(\.[0-9]{1,3})?", fullmatch=True).filter(
    lambda name: name not in {"ROOT", "ENTRY", "T"}
)
arrays = st.builds(
    Shape,
    st.sampled_from(["f32", "bf16", "pred", "s4", "f8e4m3fn", "c64"]),
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
shapes: st.SearchStrategy[ShapeTree] = st.recursive(
    arrays, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5
)
values = st.sampled_from(
    [
        ("true",), ("%other",), ('"a \\" } b"',), ("{", "0", ",", "1", "}"), ("{", "{", "0", "}", ",", "{", "}", "}"),
        ("[", "2", ",", "4", "]", "<=", "[", "4", ",", "2", "]", "T", "(", "1", ",", "0", ")"),
        ("mesh", "[", "'axis_0'", "=", "8", "]", "{", "'axis_0'", "}"), ("b01f_01io", "->", "b01f"), ("-1",), ("3x3",),
        ("mesh", "[", "'a'", "=", "4", "]", ",", "device_ids", "=", "(", "1", ",", "0", ",", "3", ",", "2", ")",
         "{", "'a'", ":", "(", "1", ")", "2", "}"),
        ("{", "op_name", "=", '"f(x)/add"', "stack_frame_id", "=", "3", "}"),
    ]
)  # fmt: skip
lines = st.builds(
    Line,
    names,
    shapes,
    st.sampled_from(["add", "all-reduce-start", "get-tuple-element", "fusion"]),
    st.lists(names, max_size=3).map(tuple),
    st.dictionaries(names, values, max_size=3),
)
bodies = st.lists(lines, min_size=1, max_size=5, unique_by=lambda line: line.name)
styles = st.builds(Style, st.booleans(), st.booleans(), st.booleans(), st.booleans())


def printed(line: Line, style: Style, root: bool) -> str:
    typed = f"{style.shape(Shape('f32', (2, 3)))} " if style.operand_types else ""
    operands = ", ".join(typed + style.name(operand) for operand in line.operands)
    attributes = "".join(f", {key}={' '.join(value)}" for key, value in line.attributes.items())
    start = "ROOT " if root else ""
    return f"  {start}{style.name(line.name)} = {style.shape(line.shape)} {line.opcode}({operands}){attributes}\n"


@settings(max_examples=50)
@given(st.dictionaries(names, bodies, min_size=1, max_size=3), styles, st.data())
def test_what_is_printed_is_read(computations: dict[str, list[Line]], style: Style, data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(sorted(computations)))
    text = "HloModule m, is_scheduled=true, num_partitions=8\n\n"
    roots = {}
    for name, body in computations.items():
        roots[name] = data.draw(st.sampled_from(body)).name
        signature = f"(a: f32[2], b: (s32[], f32[])) -> {style.shape(body[-1].shape)} " if style.operand_types else ""
        text += f"{'ENTRY ' if name == entry else ''}{style.name(name)} {signature}{{\n"
        text += "".join(printed(line, style, line.name == roots[name]) for line in body) + "}\n\n"
    read = read_hlo(text)
    assert read.entry.name == entry
    assert list(read.computations) == list(computations)
    for name, body in computations.items():
        found = read.computations[name]
        assert found.root == roots[name]
        assert [
            Line(one.name, one.shape, one.opcode, one.operands, dict(one.attributes))
            for one in found.instructions.values()
        ] == body


def test_the_header_and_its_tables_are_read() -> None:
    text = (
        "HloModule jit_f, input_output_alias={ {0}: (0, {}, may-alias) }, "
        "entry_computation_layout={(f32[2]{0}, /*index=5*/f32[])->f32[]}, num_partitions=8\n\n"
        'FileNames\n1 "submission.py"\n2 "/b/jax.py"\n\nFunctionNames\n1 "f \\" {"\n\n'
        "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7 end_line=8 column=1 end_column=2}\n"
        "2 {file_name_id=2 function_name_id=1 line=900 end_line=900 column=1 end_column=2}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n\n"
        "ENTRY %main (a: f32[]) -> f32[] {\n"
        '  ROOT %a = f32[] parameter(0), metadata={op_name="x" stack_frame_id=2}\n}, execution_thread="main"\n'
    )
    read = read_hlo(text)
    assert read.attributes["num_partitions"] == ("8",)
    metadata = read.entry.instructions["a"].attributes["metadata"]
    # Frame 2 is in jax; the line of the submission that called it is in frame 1.
    assert read.source.line(metadata, "submission.py") == 7
    assert read.source.line(metadata, "/b/jax.py") == 900
    assert read.source.line(metadata, "elsewhere.py") is None


@pytest.mark.parametrize("name", ["FileNames", "StackFrames", "ENTRY"])
def test_a_computation_may_have_the_name_of_a_table_or_of_a_keyword(name: str) -> None:
    before = f"{name} (p: f32[]) -> f32[] {{\n ROOT %q = f32[] parameter(0)\n}}"
    assert set(read_hlo(module(before=before)).computations) == {"add", name, "main"}


def test_an_entry_of_a_table_is_refused_where_it_stands() -> None:
    with pytest.raises(ProgramUnreadable, match=r"^line 3: expected a string or \{…\}"):
        read_hlo("HloModule m\nFileNames\n1 submission.py\nENTRY %a {\n}")


def test_a_line_may_stand_in_the_metadata_itself() -> None:
    text = module('%a = f32[] constant(1), metadata={op_name="x" source_file="submission.py" source_line=12}')
    read = read_hlo(text)
    assert read.source.line(read.entry.instructions["a"].attributes["metadata"], "submission.py") == 12


@pytest.mark.parametrize(
    "literal", ["{...}", "{ { 1, -2 }, { nan, -inf } }", "(1, -2e-05)", '{ "a", }', "true", "0x7fc00000", "{}"]
)
def test_a_constant_may_hold_anything(literal: str) -> None:
    read = read_hlo(module(f"%c = f32[2,2]{{1,0}} constant({literal})", "%d = f32[] negate(%c)"))
    assert read.entry.instructions["c"].operands == ()
    assert read.entry.instructions["d"].operands == ("c",)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        *(("f32[16,4]", 256), ("bf16[3]", 6), ("pred[5]", 5), ("s4[3]", 2), ("f32[]", 4), ("f32[0,7]", 0)),
        *(("f32[<=8,4]", 128), ("(f32[2]{0}, (s8[3], pred[]), token[])", 12), ("()", 0), ("c128[2]{0:T(2)S(1)}", 32)),
    ],
)
def test_a_shape_has_its_bytes(shape: str, size: int) -> None:
    read = read_hlo(module(f"%x = {shape} iota()"))
    assert sum(leaf.bytes for leaf in leaves(read.entry.instructions["x"].shape)) == size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "'HloModule'"),
        ("module @jit_f {}", "'HloModule'"),
        ("HloModule m", "an ENTRY computation"),
        ("HloModule m\n%a () -> f32[] {\n ROOT %c = f32[] constant(0)\n}", "an ENTRY computation"),
        ("HloModule m\nENTRY %a {\n}", "an instruction"),
        (module("%a = f99[2] iota()"), "a dtype"),
        (module("%a = f32[-2] iota()"), "the size of a dim"),
        (module("%a = f32[" + "9" * 30 + "] iota()"), "the size of a dim"),
        (module("%a = f32[9999999999,9999999999] iota()"), "fewer bytes"),
        (module("%a = f32[" + "1," * 64 + "1] iota()"), "at most 64 dims"),
        (module("%a = " + "(" * 40 + "f32[]" + ")" * 40 + " iota()"), "at most 32 deep"),
        (module("%a = f32[] iota() junk"), "'='"),
        (module("%a = f32[] add(%p, )", "%a = f32[] iota()"), "an operand"),
        (module("%p = f32[] iota()"), "another name"),
        (module("%a = f32[] iota(), x=1, x=2"), "once only"),
        (module("%a = f32[] iota(), x"), "'='"),
        (module("%a = f32[] iota(), x=,"), "a value"),
        (module("ROOT %a = f32[] iota()"), "one ROOT"),
        (module(before="%add () -> f32[] {\n ROOT %c = f32[] constant(0)\n}"), "another name"),
        (module(before="ENTRY %x () -> f32[] {\n ROOT %c = f32[] constant(0)\n}"), "one ENTRY"),
    ],
)
def test_what_is_no_module_is_refused_by_what_it_lacks(text: str, expected: str) -> None:
    with pytest.raises(ProgramUnreadable, match=r"^line \d+: expected ") as raised:
        read_hlo(text)
    assert expected in str(raised.value)
