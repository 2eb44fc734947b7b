"""Any text becomes tokens or an error that says where."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.program.census import take_census
from grader.program.stablehlo import read_stablehlo
from grader.program.tokens import ProgramUnreadable, cut_hlo, cut_mlir, integer

# Words and characters of HLO and MLIR, so that junk gets past the first word.
WORDS = r"""HloModule ENTRY ROOT %a %b.1 a = ( ) { } [ ] < > , : -> <= T f32[8]{0} f32 (f32[],s32[]) parameter(0) loc(
add(%a,%b.1) all-reduce( replica_groups={{0,1}} replica_groups=[2,4]<=[8] mesh['x'=8] {'x'} while( condition=%a dot(
body=%b.1 constant(3) to_apply=%a "string" "\"" /*index=5*/ /* */ // ' \ - 0 1 99999999999999999999 FileNames é
StackFrames metadata={ module @main func.func "stablehlo.all_reduce"( stablehlo.custom_call tensor<8xf32>
convolution( lhs_contracting_dims={1} input_output_alias={{0}:(0,{},may-alias)} num_partitions=8
dim_labels=b01f_01io->b01f""".split()
junk = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=40).map(" ".join)
started = junk.map("HloModule m, num_partitions=8\nENTRY %e (p: f32[8]) -> f32[8] {\n  %a = f32[8] ".__add__)


def test_names_references_shapes_and_numbers_are_tokens() -> None:
    tokens = cut_hlo("%all-gather.1 = (f32[8]{0:T(8,128)}, /*index=1*/s32[]) dot(%a), d=b01f_01io->b01f, x=-1e-05")
    assert tokens.items[: tokens.end] == (
        "%all-gather.1 = ( f32 [ 8 ] { 0 : T ( 8 , 128 ) } , s32 [ ] ) dot ( %a ) , d = b01f_01io -> b01f , x = -1e-05"
    ).split(" ")


def test_brackets_in_strings_do_not_count() -> None:
    tokens = cut_hlo(r'{op_name="}) \" {" b=1}')
    assert tokens.items[: tokens.end] == ["{", "op_name", "=", r'"}) \" {"', "b", "=", "1", "}"]
    assert tokens.partners[0] == 7


@pytest.mark.parametrize("text", ["/* { */", "/*index=1 */", "// {", "/*index=1"])
def test_a_comment_that_xla_does_not_write_hides_nothing(text: str) -> None:
    # In the value of an attribute that the submission chose, it could begin in one attribute and end in another.
    assert len(cut_hlo(text.replace("{", "x")).items) > 4


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a\nb\n  (c", 3, "'('"),
        ("a\n/*index=5*/ )", 2, "')'"),
        ("(\n]", 2, "']'"),
        ('a\n\n"b', 3, "'\"b'"),
        ('"a\\"', 1, "a"),
    ],
)
def test_an_error_says_the_line_and_what_stands_there(text: str, line: int, found: str) -> None:
    with pytest.raises(ProgramUnreadable) as raised:
        cut_hlo(text)
    assert str(raised.value).startswith(f"line {line}: ")
    assert found in str(raised.value)


def test_an_error_quotes_little_and_nothing_invisible() -> None:
    with pytest.raises(ProgramUnreadable) as raised:
        cut_hlo("\x1b[31m" + "(" + '"' + "x\n" * 1000)
    assert len(str(raised.value)) < 200
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("token", ["", "x", "-", "1x", "1.0", "9" * 20, "²", "٣"])
def test_what_is_no_number_of_19_digits_is_no_integer(token: str) -> None:
    assert integer(token) is None


@given(st.text())
def test_tokens_hold_all_that_is_visible(text: str) -> None:
    for cut in (cut_hlo, cut_mlir):
        with contextlib.suppress(ProgramUnreadable):
            tokens = cut(text)
            visible = {
                character for character in text if not character.isspace() and character not in "/*index=0123456789"
            }
            assert visible <= set("".join(tokens.items)) or "//" in text


@given(junk | started)
def test_junk_is_read_or_refused_and_nothing_else(text: str) -> None:
    for read in (lambda text: take_census(text, 8), read_stablehlo):
        with contextlib.suppress(ProgramUnreadable):
            read(text)


@pytest.mark.parametrize(
    "piece",
    ['"', '"\\', '\\"', "/*", "/*index=1", "'", "'a", "{", "(", "[<", "-", "a-", "1e+", "%", '@"', "//", "1,", "{0},"],
)
def test_a_long_repetition_takes_no_time(piece: str) -> None:
    # A linear scan takes a second, a quadratic one hours, which the limit on a test's time ends.
    text = "HloModule m, x=" + piece * 200_000
    for read in (lambda text: take_census(text, 8), read_stablehlo):
        with pytest.raises(ProgramUnreadable):
            read(text)
