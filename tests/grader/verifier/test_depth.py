"""How deep a program may be: each limit, one beyond it, and the line that the refusal names."""

import itertools

import jax
import jax.numpy as jnp
import pytest
from jax.extend.mlir import ir

from grader.confined import private_jax
from grader.program.tokens import ProgramUnreadable
from grader.verifier import load
from grader.verifier.channels import number_channels
from grader.verifier.depth import MAX_BRACKETS, MAX_CHAIN, MAX_NESTED, check_brackets, check_depth
from grader.verifier.errors import ProgramRefused

NUMBER = "tensor<f32>"


def module(operations: str, functions: str = "") -> str:
    return (
        f"module @m {{\n func.func public @main(%x: {NUMBER}) -> {NUMBER} {{\n{operations}\n"
        f' return %r : {NUMBER}\n }}\n{functions}\n}}\n#loc17 = loc("submission.py":17:4)\n'
    )


def chain(start: str, end: str, length: int) -> str:
    names = [start, *(f"%c{end[1:]}{number}" for number in range(length - 1)), end]
    pairs = itertools.pairwise(names)
    return "\n".join(f" {new} = stablehlo.sine {old} : {NUMBER} loc(#loc17)" for old, new in pairs)


def branches(depth: int) -> str:
    """Branches within one another, the innermost of which takes a sine."""
    text = f" %in = stablehlo.sine %x : {NUMBER}\n stablehlo.return %in : {NUMBER}"
    for number in reversed(range(depth)):
        name = f"%b{number}" if number else "%r"
        text = (
            f' {name} = "stablehlo.case"(%z) ({{\n{text}\n }}, {{\n stablehlo.return %x : {NUMBER}\n }})'
            f" : (tensor<i32>) -> {NUMBER} loc(#loc17)"
        ) + (f"\n stablehlo.return {name} : {NUMBER}" if number else "")
    return f" %z = stablehlo.constant dense<0> : tensor<i32>\n{text}"


def check(text: str) -> None:
    check_brackets(text)
    with private_jax.lowering_context():
        check_depth(ir.Module.parse(text))


def test_brackets_are_counted_before_mlir_reads_them() -> None:
    # In a function's body, a bracket is three deep: in those of the module, the function and the attribute.
    inside = MAX_BRACKETS - 3
    check_brackets(module(f" %r = stablehlo.sine %x {{a = {'[' * inside}{']' * inside}}} : {NUMBER}"))
    with pytest.raises(ProgramRefused, match=f"brackets more than {MAX_BRACKETS} deep, and is not read") as refused:
        check_brackets(module(f" %r = stablehlo.sine %x {{a = {'[' * (inside + 1)}{']' * (inside + 1)}}} : {NUMBER}"))
    assert refused.value.reason == "not_exportable"


@pytest.mark.parametrize(("opening", "closing"), ["[]", "()", "{}", "<>"])
def test_each_kind_of_bracket_is_refused_at_once(opening: str, closing: str) -> None:
    with pytest.raises(ProgramRefused, match="brackets"):
        number_channels_of(f"{opening * 100_000}{closing * 100_000}")


def number_channels_of(brackets: str) -> bytes:
    text = module(f" %r = stablehlo.sine %x {{a = {brackets}}} : {NUMBER}")
    check_brackets(text)
    return number_channels(text)


def test_brackets_in_names_and_comments_are_not_counted() -> None:
    check_brackets(module(f' %r = stablehlo.sine %x : {NUMBER} loc("{"(" * 1000}") // {"[" * 1000}'))


def test_loops_and_branches_within_one_another() -> None:
    check(module(branches(MAX_NESTED)))
    with pytest.raises(
        ProgramRefused,
        match=f"at line 17, {MAX_NESTED + 1} loops and branches within one another; at most {MAX_NESTED}",
    ):
        check(module(branches(MAX_NESTED + 1)))


def test_loops_one_after_another_are_not_nested() -> None:
    def rounds(x: jax.Array) -> jax.Array:
        for _ in range(2 * MAX_NESTED):
            x = jax.lax.fori_loop(0, 3, lambda _, each: jnp.sin(each), x)
        return x

    check(jax.jit(rounds).lower(jnp.float32(1)).as_text())


def test_a_chain_of_operations() -> None:
    check(module(chain("%x", "%r", MAX_CHAIN)))
    with pytest.raises(ProgramRefused, match=r"at line 17, a chain of more than 2,000 operations.*lax\.scan"):
        check(module(chain("%x", "%r", MAX_CHAIN + 1)))


def test_operations_beside_one_another_are_no_chain() -> None:
    operations = "\n".join(f" %s{number} = stablehlo.sine %x : {NUMBER}" for number in range(2 * MAX_CHAIN))
    check(module(f"{operations}\n %r = stablehlo.add %s0, %s1 : {NUMBER}"))


def layers(x: jax.Array, w: jax.Array) -> jax.Array:
    for _ in range(MAX_CHAIN // 10):
        x = jnp.tanh(x @ w)
        for _ in range(20):
            x = x + 1
    return x


def test_a_matrix_product_begins_a_new_chain() -> None:
    check(jax.jit(layers).lower(jnp.ones((4, 4)), jnp.ones((4, 4))).as_text())


def test_a_product_that_sums_nothing_is_a_multiplication() -> None:
    with pytest.raises(ProgramRefused, match="chain"):
        check(jax.jit(layers).lower(jnp.ones((4, 1)), jnp.ones((1, 1))).as_text())


def test_a_chain_goes_on_in_loops_and_branches() -> None:
    inside = (
        f' %r = "stablehlo.case"(%z) ({{\n{chain("%half", "%in", MAX_CHAIN // 2)}\n stablehlo.return %in : {NUMBER}\n'
        f" }}, {{\n stablehlo.return %x : {NUMBER}\n }}) : (tensor<i32>) -> {NUMBER}"
    )
    start = " %z = stablehlo.constant dense<0> : tensor<i32>\n"
    check(module(f"{start}{chain('%x', '%half', MAX_CHAIN // 2 - 1)}\n{inside}"))
    with pytest.raises(ProgramRefused, match="chain"):
        check(module(f"{start}{chain('%x', '%half', MAX_CHAIN // 2)}\n{inside}"))


def function(name: str, operations: str) -> str:
    return f" func.func private @{name}(%x: {NUMBER}) -> {NUMBER} {{\n{operations}\n return %r : {NUMBER}\n }}"


def call(name: str, old: str, new: str) -> str:
    return f" {new} = call @{name}({old}) : ({NUMBER}) -> {NUMBER} loc(#loc17)"


def test_a_call_counts_as_the_body_of_its_function() -> None:
    half = function("half", chain("%x", "%r", MAX_CHAIN // 2))
    check(module(call("half", "%x", "%r"), half))
    with pytest.raises(ProgramRefused, match="chain"):
        check(module(f"{call('half', '%x', '%y')}\n{call('half', '%y', '%r')}", half))
    nested = function("nested", branches(MAX_NESTED))
    check(module(call("nested", "%x", "%r"), nested))
    with pytest.raises(ProgramRefused, match="loops and branches"):
        check(
            module(
                branches(1)
                .replace("%in = stablehlo.sine %x", "%in = func.call @nested(%x)")
                .replace(
                    f"%in = func.call @nested(%x) : {NUMBER}", f"%in = func.call @nested(%x) : ({NUMBER}) -> {NUMBER}"
                ),
                nested,
            )
        )


def test_functions_that_call_themselves_are_refused() -> None:
    with pytest.raises(ProgramUnreadable, match="more than 200 deep"):
        check(module(call("f", "%x", "%r"), function("f", call("f", "%x", "%r"))))


def test_a_function_is_counted_once_however_often_it_is_called() -> None:
    """Each of 40 functions calls the next one twice: following every call would take 2^40 steps."""
    calls = "\n".join(
        function(f"f{number}", f"{call(f'f{number + 1}', '%x', '%y')}\n{call(f'f{number + 1}', '%x', '%r')}")
        for number in range(40)
    )
    check(module(call("f0", "%x", "%r"), calls + "\n" + function("f40", chain("%x", "%r", 1))))


@pytest.mark.parametrize("chip", ["", "gpu", "tpu"])
def test_brackets_that_do_not_close_are_refused_for_hosts_and_chips(monkeypatch, chip):
    """The process of a compiler for chips handles refusals alone."""
    monkeypatch.setattr(load, "read_exported", lambda artifact: (None, "module { func.func @main("))
    with pytest.raises(ProgramRefused, match="cannot be read") as refused:
        load.read_artifact(b"", {"x": 8}, [], chip=chip)
    assert refused.value.reason == "not_exportable"
