# ruff: noqa: E501  (rows of a table are easier to read whole)
"""The spies see what a problem requires, and cannot be told apart from the functions that they wrap."""

import copy
import functools
import inspect
import pickle
import pydoc
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from grader.runner.observe import Observer


def linear() -> nnx.Linear:
    return nnx.Linear(2, 1, rngs=nnx.Rngs(0))


def gradients(model: nnx.Linear) -> Any:
    return nnx.grad(lambda model: jnp.mean(model(jnp.ones((1, 2)))))(model)


def optimizer_of(model: nnx.Linear, tx: Any = None) -> nnx.Optimizer:
    return nnx.Optimizer(model, optax.sgd(0.5) if tx is None else tx, wrt=nnx.Param)


def updated(update: Callable[[nnx.Optimizer, nnx.Linear, Any], object]) -> object:
    model = linear()
    optimizer = optimizer_of(model)
    returned = update(optimizer, model, gradients(model))
    return str(returned), np.asarray(model.kernel[...]).tolist(), int(optimizer.step[...])


class Own(nnx.Optimizer):
    """A subclass that goes through its parent."""

    def __init__(self, model: Any, rate: float) -> None:
        super().__init__(model, optax.sgd(rate), wrt=nnx.Param)
        self.calls = 0

    def update(self, model: Any, grads: Any, /, **kwargs: Any) -> Any:
        self.calls += 1
        return super().update(model, grads, **kwargs)


class Unprintable:
    """A filter that cannot be printed."""

    def __call__(self, path: object, value: object) -> bool:
        return isinstance(value, nnx.Param)

    def __repr__(self) -> str:
        raise RuntimeError("not me")


def through_own() -> object:
    model = linear()
    optimizer = Own(model, 0.5)
    optimizer.update(model, gradients(model))
    return isinstance(optimizer, nnx.Optimizer), optimizer.calls, np.asarray(model.kernel[...]).tolist()


def under_jit() -> object:
    model = linear()
    optimizer = optimizer_of(model)
    nnx.jit(lambda model, optimizer: optimizer.update(model, gradients(model)))(model, optimizer)
    return np.asarray(model.kernel[...]).tolist()


def described(thing: Any) -> object:
    hints = {name: str(hint) for name, hint in typing.get_type_hints(thing).items()} if thing is optax.sgd else None
    return (
        thing.__name__,
        thing.__qualname__,
        thing.__module__,
        thing.__doc__,
        type(thing),
        str(inspect.signature(thing)),
        inspect.getsource(thing),
        pydoc.render_doc(thing),
        hints,
    )


# Each is run with the spies and without; what it returns or raises must be the same.
WAYS: dict[str, Callable[[], object]] = {
    "sgd described": lambda: described(optax.sgd),
    "sgd by position": lambda: str(optax.sgd(0.1, 0.9, True).init(jnp.ones(2))),
    "sgd by keyword": lambda: str(optax.sgd(learning_rate=0.1, momentum=0.9, accumulator_dtype=jnp.bfloat16).init(jnp.ones(2))),
    "sgd of a schedule": lambda: str(optax.sgd(optax.constant_schedule(0.1)).init(jnp.ones(2))),
    "sgd without a rate": lambda: optax.sgd(),
    "sgd with too much": lambda: optax.sgd(0.1, None, False, None, 5),
    "sgd with an unknown keyword": lambda: optax.sgd(0.1, rate=1),
    "sgd pickled": lambda: pickle.loads(pickle.dumps(optax.sgd)) is optax.sgd,
    "sgd where it is defined": lambda: sys.modules[optax.sgd.__module__].sgd is optax.sgd,
    "sgd's hyperparameters": lambda: str(optax.inject_hyperparams(optax.sgd)(learning_rate=0.1).init(jnp.ones(2))),
    "init described": lambda: described(nnx.Optimizer.__init__),
    "update described": lambda: described(nnx.Optimizer.update),
    "update pickled": lambda: pickle.loads(pickle.dumps(nnx.Optimizer.update)) is nnx.Optimizer.update,
    "the class described": lambda: (str(inspect.signature(nnx.Optimizer)), pydoc.render_doc(nnx.Optimizer)),
    "by keyword": lambda: type(nnx.Optimizer(model=linear(), tx=optax.sgd(0.1), wrt=nnx.Param)),
    "without wrt": lambda: nnx.Optimizer(linear(), optax.sgd(0.1)),
    "wrt by position": lambda: nnx.Optimizer(linear(), optax.sgd(0.1), nnx.Param),
    "without anything": lambda: nnx.Optimizer(),
    "with an unknown keyword": lambda: nnx.Optimizer(linear(), optax.sgd(0.1), wrt=nnx.Param, lr=1),
    "with something that is not a transformation": lambda: nnx.Optimizer(linear(), 3, wrt=nnx.Param),
    "with a filter that cannot be printed": lambda: type(nnx.Optimizer(linear(), optax.sgd(0.1), wrt=Unprintable())),
    "with a subclass": through_own,
    "with a model inside": lambda: type(nnx.ModelAndOptimizer(linear(), optax.sgd(0.1), wrt=nnx.Param)),
    "update": lambda: updated(lambda optimizer, model, grads: optimizer.update(model, grads)),
    "update unbound": lambda: updated(lambda optimizer, model, grads: nnx.Optimizer.update(optimizer, model, grads)),
    "update through a partial": lambda: updated(lambda optimizer, model, grads: functools.partial(optimizer.update, model)(grads)),
    "update with extra arguments": lambda: updated(lambda optimizer, model, grads: optimizer.update(model, grads, value=1.0)),
    "update as it was called before": lambda: updated(lambda optimizer, model, grads: optimizer.update(grads)),
    "update by keyword": lambda: updated(lambda optimizer, model, grads: optimizer.update(model=model, grads=grads)),
    "update with too much": lambda: updated(lambda optimizer, model, grads: optimizer.update(model, grads, grads)),
    "update with something that is not a gradient": lambda: updated(lambda optimizer, model, grads: optimizer.update(model, 3)),
    "update of a copy": lambda: updated(lambda optimizer, model, grads: copy.deepcopy(optimizer).update(model, grads)),
    "update under jit": under_jit,
    "structure": lambda: str(jax.tree.structure(nnx.state(optimizer_of(linear())))),
}  # fmt: skip


@pytest.fixture
def spied() -> Iterator[Observer]:
    home = sys.modules[optax.sgd.__module__]
    kept = optax.sgd, nnx.Optimizer.__init__, nnx.Optimizer.update
    observer = Observer()
    observer.install()
    observer.begin()
    yield observer
    optax.sgd = home.sgd = kept[0]
    nnx.Optimizer.__init__, nnx.Optimizer.update = kept[1:]  # type: ignore[method-assign]


def outcome(way: Callable[[], object]) -> object:
    try:
        return way()
    except Exception as error:
        return type(error), str(error)


@pytest.fixture
def expected(name):
    return outcome(WAYS[name])


@pytest.mark.parametrize("name", WAYS)
def test_a_spy_cannot_be_told_from_what_it_wraps(expected, spied, name):
    """What is expected is found out first, before the spies are there."""
    assert outcome(WAYS[name]) == expected


@pytest.mark.parametrize(
    "name", ["update", "update unbound", "update through a partial", "update of a copy", "with a subclass", "update under jit"]
)  # fmt: skip
def test_an_update_is_seen_whichever_way_it_is_called(spied, name):
    WAYS[name]()
    built, *_, seen = spied.collect()
    assert (built["event"], seen["event"]) == ("optimizer", "update")
    assert (seen["tx"], seen["lr"], seen["momentum"], seen["wrt"]) == ("sgd", 0.5, False, "Param")
    assert {path: leaf.shape for path, leaf in seen["gradients"].items()} == {"bias": (1,), "kernel": (2, 1)}


@pytest.mark.parametrize("name", ["update as it was called before", "update with too much", "without wrt"])
def test_what_raised_has_not_happened(spied, name):
    outcome(WAYS[name])
    assert all(event["event"] == "optimizer" for event in spied.collect())


TRANSFORMS = {
    "sgd": (lambda: optax.sgd(0.5), True),
    "a chain of one": (lambda: optax.chain(optax.sgd(0.5)), True),
    "an injected rate": (lambda: optax.inject_hyperparams(optax.sgd)(learning_rate=0.5), True),
    "a scale": (lambda: optax.scale(-0.5), True),
    "a constant schedule": (lambda: optax.sgd(optax.constant_schedule(0.5)), True),
    "no momentum": (lambda: optax.sgd(0.5, momentum=0.0), True),
    "a rate of another dtype": (lambda: optax.sgd(np.float64(0.5)), True),
    "another rate": (lambda: optax.sgd(0.25), False),
    "momentum": (lambda: optax.sgd(0.5, momentum=0.9), False),
    "a schedule": (lambda: optax.sgd(optax.linear_schedule(0.5, 0.0, 4)), False),
    "a clip": (lambda: optax.chain(optax.clip_by_global_norm(10.0), optax.sgd(0.5)), False),
    "decay": (lambda: optax.chain(optax.add_decayed_weights(0.1), optax.sgd(0.5)), False),
    "adam": (lambda: optax.adam(0.5), False),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_known_by_what_it_does(spied, name):
    make, same = TRANSFORMS[name]
    for transform in (optax.sgd(0.5), make()):
        optimizer_of(linear(), transform)
    expected, got = (event["updates"] for event in spied.collect())
    assert set(expected) == {f"{step}/{leaf}" for step in (1, 2, 3) for leaf in ("bias", "kernel")}
    assert all(np.allclose(expected[path], got[path], rtol=1e-6) for path in expected) == same
    assert {leaf.dtype.name for leaf in got.values()} == {"float32"}


def clone_updated(optimizer: nnx.Optimizer, model: nnx.Linear) -> None:
    optimizer.update(nnx.clone(model), gradients(model))


def copied_back(optimizer: nnx.Optimizer, model: nnx.Linear) -> None:
    new = nnx.clone(model)
    optimizer.update(new, gradients(model))
    nnx.update(model, nnx.state(new))


def of_pure_functions(optimizer: nnx.Optimizer, model: nnx.Linear) -> None:
    graph, state = nnx.split((optimizer, model))

    @jax.jit
    def step(state: Any) -> Any:
        optimizer, model = nnx.merge(graph, state)
        optimizer.update(model, gradients(model))
        return nnx.state((optimizer, model))

    step(state)


def all_of_it(update: Callable[[nnx.Optimizer, nnx.Linear], None]) -> Callable[..., None]:
    """With a model and an optimizer that are made while the function is traced."""

    def run(*_: object) -> None:
        @jax.jit
        def step(rate: jax.Array) -> None:
            model = linear()
            update(optimizer_of(model, optax.sgd(rate)), model)

        step(0.5)

    return run


STEPS = {
    "the model": (lambda optimizer, model: optimizer.update(model, gradients(model)), "moved"),
    "under nnx.jit": (nnx.jit(lambda optimizer, model: optimizer.update(model, gradients(model))), "moved"),
    "copied back": (copied_back, "moved"),
    "made under jit": (all_of_it(lambda optimizer, model: optimizer.update(model, gradients(model))), "moved"),
    "pure functions": (of_pure_functions, "unknown"),
    "a clone": (clone_updated, "still"),
    "a clone under nnx.jit": (nnx.jit(clone_updated), "still"),
    "a clone made under jit": (all_of_it(clone_updated), "still"),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_model_that_an_optimizer_was_built_for_has_to_move(spied, name):
    step, told = STEPS[name]
    for _ in range(2):
        spied.begin()
        if "made under" not in name:
            model = linear()
            optimizer = optimizer_of(model)
            step(optimizer, model)
        else:
            step()
        assert [event["model"] for event in spied.collect() if event["event"] == "update"] == [told]
