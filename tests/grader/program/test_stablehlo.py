"""StableHLO text, written by hand: generic and pretty forms, regions, locations, donated arguments."""

import pytest

from grader.program.stablehlo import ExportedProgram, read_stablehlo
from grader.program.tokens import ProgramUnreadable


def program(*lines: str, arguments: str = "%arg0: tensor<8x4xf32>") -> ExportedProgram:
    body = "\n".join(f"    {line}" for line in lines)
    return read_stablehlo(
        "module @jit_f attributes {mhlo.num_partitions = 8 : i32} {\n"
        f'  func.func public @main({arguments}) -> (tensor<8x4xf32> {{jax.result_info = "result"}}) {{\n{body}\n'
        "    return %arg0 : tensor<8x4xf32>\n  }\n}\n"
    )


def shapes(found: ExportedProgram) -> list[tuple[str, list[str], list[str]]]:
    return [(one.kind, [str(s) for s in one.operands], [str(s) for s in one.results]) for one in found.collectives]


def test_the_type_stands_behind_attributes_and_regions() -> None:
    found = program(
        '%0:2 = "stablehlo.all_reduce"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1>, '
        "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({",
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        "  %1 = stablehlo.add %a, %b : tensor<f32>",
        "  stablehlo.return %1 : tensor<f32>",
        "}) {x.y} : (tensor<8x4xbf16>, tensor<f32>) -> (tensor<8x4xbf16>, tensor<f32>) loc(#loc3)",
    )
    assert shapes(found) == [("all-reduce", ["bf16[8,4]", "f32[]"], ["bf16[8,4]", "f32[]"])]
    assert found.operations == {"func.func": 1, "stablehlo.all_reduce": 1, "stablehlo.add": 1, "stablehlo.return": 1}
    assert found.attributes == {"mhlo.num_partitions": 1, "jax.result_info": 1, "x.y": 1}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("tensor<8x4xi1>", "pred[8,4]"),
        ("tensor<i32>", "s32[]"),
        ("tensor<3xui8>", "u8[3]"),
        ("tensor<2xcomplex<f32>>", "c64[2]"),
        ("tensor<2x3xf8E4M3FN>", "f8e4m3fn[2,3]"),
        ("tensor<0x2xf64>", "f64[0,2]"),
        ("tensor<4xf32, #stablehlo.bounds<8>>", "f32[4]"),
    ],
)
def test_dtypes_have_their_names_in_hlo(written: str, expected: str) -> None:
    found = program(f'%0 = "stablehlo.all_gather"(%arg0) <{{all_gather_dim = 0 : i64}}> : ({written}) -> {written}')
    assert shapes(found) == [("all-gather", [expected], [expected])]


def test_a_pretty_form_gives_the_type_once() -> None:
    found = program("%0 = stablehlo.all_to_all %arg0, dims = [0] : tensor<8x4xf16>")
    assert shapes(found) == [("all-to-all", ["f16[8,4]"], ["f16[8,4]"])]


def test_names_in_strings_and_locations_are_no_operations() -> None:
    found = program(
        '%0 = stablehlo.sine %arg0 {x.y = "stablehlo.send"} : tensor<8x4xf32> loc("stablehlo.recv"(#loc1))',
        '#loc9 = loc(callsite("stablehlo.infeed"(#loc1) at "stablehlo.outfeed"(#loc2)))',
        '#loc10 = loc(fused["stablehlo.send"("a":1:2)])',
    )
    assert set(found.operations) == {"func.func", "stablehlo.sine"}


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("%0 = stablehlo.custom_call @Sharding(%arg0) : (tensor<f32>) -> tensor<f32>", "Sharding"),
        (r'%0 = stablehlo.custom_call @"a\22b"(%arg0) : (tensor<f32>) -> tensor<f32>', 'a"b'),
        ('%0 = "stablehlo.custom_call"(%arg0) <{call_target_name = "x\\0Ay"}> : (tensor<f32>) -> tensor<f32>', "x\ny"),
        ('"stablehlo.custom_call"() {call_target_name = "z"} : () -> ()', "z"),
    ],
)
def test_custom_calls_have_targets(line: str, target: str) -> None:
    assert program(line).custom_calls == (target,)


def test_arguments_are_donated_to_an_output_or_to_any() -> None:
    arguments = (
        "%arg0: tensor<8x4xf32> {tf.aliasing_output = 1 : i32, x.y = [1, 2]}, %arg1: tensor<f32>, "
        '%arg2: tensor<f32> {jax.buffer_donor = true} loc("x"), %arg3: tensor<f32> {jax.buffer_donor = false}'
    )
    assert program(arguments=arguments).donated == ((0, 1), (2, None))


@pytest.mark.parametrize(
    ("written", "dynamic"),
    [("8x4xf32", False), ("f32", False), ("?x4xf32", True), ("8x?xf32", True), ("4xf32, #stablehlo.bounds<8>", True)],
)
def test_a_size_that_is_not_fixed_is_noticed_wherever_it_is(written: str, dynamic: bool) -> None:
    assert program(f"%0 = stablehlo.sine %arg0 : tensor<{written}>").dynamic is dynamic
    assert program(arguments=f"%arg0: tensor<8x4xf32>, %arg1: tensor<{written}>").dynamic is dynamic


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('%0 = "stablehlo.all_gather"(%arg0) <{x = 1}>', "a collective with a type"),
        ('%0 = "stablehlo.all_gather"(%arg0) : (tensor<?xf32>) -> tensor<?xf32>', "fixed shape"),
        ('%0 = "stablehlo.all_gather"(%arg0) : (tensor<2xfoo>) -> tensor<2xfoo>', "known dtype"),
        ('%0 = "stablehlo.custom_call"(%arg0) : (tensor<f32>) -> tensor<f32>', "a target"),
        ('%0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {"a=1} %b" = "c"}} : tensor<f32>', "has the name"),
        ("%0 = stablehlo.sine %arg0 {", "closed"),
    ],
)
def test_what_cannot_be_vouched_for_is_refused(line: str, expected: str) -> None:
    with pytest.raises(ProgramUnreadable, match=expected):
        program(line)


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(ProgramUnreadable, match="no function"):
        read_stablehlo("HloModule m")


MANUAL = (
    "%0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] "
    'manual_axes={"fsdp"} (%arg1: tensor<8x4xf32>) {',
    "  %1 = stablehlo.dot_general %arg1, %arg1, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) "
    "-> tensor<4x4xf32>",
    "  %2 = func.call @f(%arg1) : (tensor<8x4xf32>) -> tensor<8x4xf32>",
    '  %3 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>}> ({',
    "  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>",
    "  sdy.return %2 : tensor<8x4xf32>",
    "} : (tensor<8x4xf32>) -> tensor<8x4xf32>",
)
OUTSIDE = "%4 = stablehlo.dot_general %0, %0, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>)"
CALL = "%5 = call @f(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>"


def with_function(*lines: str) -> ExportedProgram:
    main = "\n".join(lines)
    return read_stablehlo(
        f"module @m {{\n func.func public @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {{\n{main}\n return\n }}\n"
        " func.func private @f(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
        " %0 = stablehlo.dot_general %arg0, %arg0 : (tensor<8x4xf32>, tensor<8x4xf32>)\n return\n }\n}\n"
    )


def test_what_stands_in_a_shard_map_is_told_from_what_stands_beside_it() -> None:
    found = with_function(*MANUAL, OUTSIDE)
    assert [(place.inside, place.outside) for place in found.products] == [(1, 0), (0, 1), (1, 0)]
    (reduced,) = found.collectives
    assert (reduced.channel, reduced.place.inside, reduced.place.outside) == (7, 1, 0)


def test_a_function_stands_where_it_is_called_from() -> None:
    found = with_function(*MANUAL, CALL, CALL.replace("%5", "%6"))
    assert [(place.inside, place.outside) for place in found.products] == [(1, 0), (1, 2)]


def test_calls_too_deep_to_follow_are_refused() -> None:
    chain = "".join(
        f" func.func private @f{number}() {{\n call @f{number + 1}() : () -> ()\n return\n }}\n"
        for number in range(300)
    )
    main = " func.func public @main() {\n call @f0() : () -> ()\n return\n }\n"
    with pytest.raises(ProgramUnreadable, match="200 deep"):
        read_stablehlo(f"module @m {{\n{main}{chain} func.func private @f300() {{\n return\n }}\n}}\n")
