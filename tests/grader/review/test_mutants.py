"""Small mistakes in a reference, of the kinds that students make: one at a time, and each one Python."""

import pytest

from grader.review.mutants import PROPOSALS, mutants_of


def changes(body, kind):
    source = f"def f(x, y):\n    {body}\n"
    return [each.change for each in mutants_of(source, 100) if each.kind == kind]


@pytest.mark.parametrize(
    ("body", "kind", "change"),
    [
        ("return x + y", "sign", "`x + y` became `x - y`"),
        ("return x - y", "sign", "`x - y` became `x + y`"),
        ("return -x", "sign", "`-x` became `x`"),
        ("return x - y", "update", "`- y` was removed"),
        ("return x.sum(axis=1)", "axis", "`axis=1` became `axis=0`"),
        ("return x.sum(axis=1)", "axis", "`x.sum(axis=1)` became `x.sum()`"),
        ("return x.T", "axis", "`x.T` became `x`"),
        ("return jnp.mean(x)", "reduction", "`jnp.mean` became `jnp.sum`"),
        ("return lax.psum(x, 'a')", "reduction", "`lax.psum` became `lax.pmean`"),
        ("return x / y", "scale", "`/ y` was removed"),
        ("return x * y", "scale", "`x *` was removed"),
        ("x += y", "update", "`x += y` was removed"),
        ("x = step(x)", "update", "`x = step(x)` was removed"),
        ("y = [x for _ in range(3)]", "update", "`range(3)` became `range(3 - 1)`"),
        ("return jnp.minimum(x, y)", "reduction", "`jnp.minimum` became `jnp.maximum`"),
        ("optimizer.update(x)", "update", "`optimizer.update(x)` was removed"),
        ("return P('a', None)", "spec", "`P('a', None)` became `P(None, 'a')`"),
        ("return P('a')", "spec", "`P('a')` became `P()`"),
        ("return jnp.float32", "dtype", "`jnp.float32` became `jnp.bfloat16`"),
        ("return x.astype(y)", "dtype", "`x.astype(y)` became `x`"),
        ("return lax.all_gather(x, tiled=True)", "flag", "`tiled=True` became `tiled=False`"),
        ("return P('a')", "spec", "`P('a')` became `P(None, 'a')`"),
        ("return f(in_specs=(P(), x))", "spec", "`in_specs=(P(), x)` became `in_specs=(x, P())`"),
        ("return x @ y", "dtype", "`x @ y` became `(x.astype('bfloat16') @ y.astype('bfloat16')).astype('float32')`"),
        ("return jnp.zeros(3, dtype='float32')", "dtype", "`dtype='float32'` became `dtype='bfloat16'`"),
        ("z, y = step(x, y)", "stale", "`z, y = step(x, y)` became `z, _ = step(x, y)`"),
        ("return {'w': x['w'] - y, 'n': x['n']}", "stale", "`x['w'] - y` became `x['w']`"),
    ],
)
def test_a_mistake(body, kind, change):
    assert change in changes(body, kind)


def kinds(source, **options):
    return [(each.kind, each.line, each.change) for each in mutants_of(source, 100, **options)]


def test_an_update_of_a_clone():
    source = "from flax import nnx\n\n\ndef f(optimizer, model, grads):\n    optimizer.update(model, grads)\n"
    (clone,) = [each for each in mutants_of(source, 100) if each.kind == "clone"]
    assert (clone.line, clone.change) == (
        5,
        "`optimizer.update(model, grads)` became `optimizer.update(nnx.clone(model), grads)`",
    )
    assert "optimizer.update(nnx.clone(model), grads)" in clone.source
    # Older flax: the optimizer has the model.
    older = source.replace("update(model, grads)", "update(grads)")
    (other,) = [each for each in mutants_of(older, 100) if each.kind == "clone"]
    assert "nnx.clone(optimizer).update(grads)" in other.source
    assert "clone" not in {kind for kind, *_ in kinds(source.replace("from flax import nnx", "import flax"))}


def test_a_zip_that_would_raise_an_error_is_no_flag():
    assert changes("return dict(zip(x, y, strict=True))", "flag") == []


def test_a_batch_that_is_gathered():
    source = 'import jax\n\n\ndef step(mesh, state, x):\n    """Doc."""\n    return state, x\n'
    source += "\n\ndef other(mesh, x):\n    return x\n"
    found = [each for each in mutants_of(source, 100, "step", ["x", "y"]) if each.kind == "batch"]
    assert [(each.line, each.change) for each in found] == [(4, "`x` was gathered on every device first")]
    lines = found[0].source.splitlines()
    assert lines[4:6] == [
        "    x = jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))",
        "    return (state, x)",
    ]
    assert kinds(source) == []


def test_several_values_on_one_line_are_not_a_stale_state():
    assert changes("x, y = int(x), int(y)", "stale") == []


def test_what_is_no_code_has_no_mistakes():
    source = (
        '"""A - B."""\n\nState = dict[str, jnp.float32]\n\n\n'
        'def f(x: jnp.float32, y=1 + 1) -> jnp.float32:\n    """Adds x + y."""\n    return x\n'
    )
    assert mutants_of(source, 100) == []


def test_the_line_is_that_of_the_source():
    assert [each.line for each in mutants_of("import jax\n\n\ndef f(x):\n    # Two lines.\n    return -x\n", 9)] == [6]


def test_a_limit_leaves_some_of_every_kind():
    source = "def f(x):\n" + "    y = x + 1\n" * 20 + "    return x.sum(axis=1)\n"
    assert {each.kind for each in mutants_of(source, 4)} == {"sign", "update", "axis", "reduction"}
    assert len(mutants_of(source, 4)) == 4


@pytest.mark.parametrize("source", ["def f(:", "\x00", "(" * 5000])
def test_what_is_not_python_has_none(source):
    assert mutants_of(source, 9) == []


def test_every_kind_proposes_a_case():
    assert all(text.startswith("Add a") for text in PROPOSALS.values())
