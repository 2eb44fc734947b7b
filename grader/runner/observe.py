"""Spies on the calls that a problem requires. Their records are *observed*, because a submission can change them.

A spy passes its arguments on unchanged, so the wrapped function keeps its signature, errors and results. If recording
fails, the record is missing.

A spy records each *execution* of a call. Inside `jit`, Python runs once but the compiled program runs many times, so a
callback in the program makes the record.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax
from flax import nnx

from grader.core.wire import Message
from grader.runner.optimizer_effects import Built, Leaves, leaves_of, probe

MAX_EVENTS = 64
# A submission's optimizer. Its attributes may be anything, or missing.
Unknown = Any


class Observer:
    """Wraps `optax.sgd`, `nnx.Optimizer.__init__` and `nnx.Optimizer.update` once, before a submission is loaded.

    Call `begin` at the start of a case and `collect` at its end.
    """

    def __init__(self) -> None:
        # False while a program is exported, because a record is made by a callback, which a program must not contain.
        self.active = True
        self._events: list[tuple[Message, Built | None]] = []
        # The optimizers of this case, in order. `_builders` has those of all cases by id, for traces that are reused.
        self._built: list[Built] = []
        self._builders: dict[int, Built] = {}
        # Keyed by the id of `update`, a closure that is unique to a transformation and shared by its copies. Each
        # record stores the closure, so that its id is not reused.
        self._transforms: dict[int, tuple[object, Message]] = {}

    def install(self) -> None:
        spy = self._spy_on_sgd(optax.sgd)
        # Replace it in the module that defines it, too, because pickle looks there.
        sys.modules[optax.sgd.__module__].sgd = optax.sgd = spy  # type: ignore[attr-defined]
        nnx.Optimizer.__init__ = self._spy_on_init(nnx.Optimizer.__init__)  # type: ignore[method-assign]
        nnx.Optimizer.update = self._spy_on_update(nnx.Optimizer.update)  # type: ignore[method-assign]

    def begin(self) -> None:
        self._events.clear()
        self._built.clear()

    def collect(self) -> list[Message]:
        """Wait for all callbacks of compiled programs, and return the events since `begin`."""
        jax.effects_barrier()  # type: ignore[no-untyped-call]
        return [event | {"model": self._movement_of(built)} for event, built in self._events]

    def _movement_of(self, built: Built | None) -> str:
        """See `Built.movement`. A copy of an optimizer that nnx.jit made counts as the last one built."""
        built = built or (self._built[-1] if self._built else None)
        try:
            return built.movement() if built else "unknown"
        except Exception:  # the submission may have done anything to its model since
            return "unknown"

    def _spy_on_sgd(
        self, original: Callable[..., optax.GradientTransformation]
    ) -> Callable[..., optax.GradientTransformation]:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def sgd(*args: object, **kwargs: object) -> optax.GradientTransformation:
            transform = original(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            record = {"tx": "sgd", "lr": given["learning_rate"], "momentum": given.get("momentum") is not None}
            self._transforms[id(transform.update)] = (transform.update, record)
            return transform

        return sgd

    def _spy_on_init(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(*args: object, **kwargs: object) -> None:
            original(*args, **kwargs)
            model = args[1] if len(args) > 1 else kwargs.get("model")
            self._note_built(args[0], model)
            self._record("optimizer", args[0], model, {})

        return init

    def _spy_on_update(self, original: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(original)
        def update(*args: object, **kwargs: object) -> object:
            # Read gradients before the update: if they share variables with the model, they are weights after it.
            leaves = _gradient_leaves(args[2], args[0]) if len(args) == 3 else {}
            result = original(*args, **kwargs)
            self._record("update", args[0], args[1] if len(args) > 1 else None, leaves)
            return result

        return update

    def _note_built(self, optimizer: Unknown, model: object) -> None:
        if not self.active or len(self._builders) >= MAX_EVENTS:
            return
        try:
            built = Built(optimizer, model)
        except Exception:  # a subclass may keep anything under these names
            return
        self._built.append(built)
        self._builders[id(optimizer)] = built

    def _record(self, event: str, optimizer: Unknown, model: object, gradients: Leaves) -> None:
        if not self.active:
            return
        try:
            known, lr = self._known_of(event, optimizer)
        except Exception:  # a subclass may keep anything under these names, and a filter may refuse to be printed
            return
        updates = _probed(optimizer, model)
        store = functools.partial(
            self._store, known, self._builders.get(id(optimizer)), tuple(gradients), tuple(updates)
        )
        values = (lr, *gradients.values(), *updates.values())
        if any(isinstance(value, jax.core.Tracer) for value in values):
            jax.debug.callback(store, *values)
        else:
            store(*values)

    def _known_of(self, event: str, optimizer: Unknown) -> tuple[Message, object]:
        other = {"tx": "other", "lr": None, "momentum": False}
        _, transform = self._transforms.get(id(optimizer.tx.update), (None, other))
        lr = transform["lr"] if isinstance(transform["lr"], int | float | np.generic | np.ndarray | jax.Array) else None
        known = {
            "event": event,
            "tx": transform["tx"],
            "momentum": transform["momentum"],
            "wrt": _filter_name(optimizer.wrt),
        }
        return known, lr

    def _store(
        self,
        known: Message,
        built: Built | None,
        paths: tuple[str, ...],
        probed: tuple[str, ...],
        lr: object,
        *values: object,
    ) -> None:
        if len(self._events) < MAX_EVENTS:
            arrays = [np.asarray(value) for value in values]
            gradients = dict(zip(paths, arrays[: len(paths)], strict=True))
            updates = dict(zip(probed, arrays[len(paths) :], strict=True))
            given = np.asarray(lr)
            rate = None if lr is None or given.size != 1 else float(given.reshape(()))
            self._events.append(({**known, "lr": rate, "gradients": gradients, "updates": updates}, built))


def _gradient_leaves(grads: object, optimizer: Unknown) -> Leaves:
    """Leaf path -> gradient, for the leaves that the optimizer takes; empty if it takes none."""
    try:
        return leaves_of(nnx.as_pure(nnx.state(grads, optimizer.wrt)))
    except Exception:  # anything may have been passed; the real update comes next and says what is wrong with it
        return {}


def _probed(optimizer: Unknown, model: object) -> Leaves:
    """The updates that the transform computes from gradients of the model's shapes; empty if it cannot be tried."""
    try:
        return probe(optimizer.tx, nnx.as_pure(nnx.state(model, optimizer.wrt)))
    except Exception:  # a transform of the submission's own may do anything
        return {}


def _filter_name(wrt: object) -> str:
    return wrt.__name__ if isinstance(wrt, type) else repr(wrt)[:80]
