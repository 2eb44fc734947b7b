"""Observe what an optimizer does: the updates that its transform computes, and whether its model moves."""

from typing import Any

import jax
import numpy as np
import optax
from flax import nnx

from grader.core.wire import Array

# Small, large enough to trigger clipping, and small again. Momentum, schedules and moments show from the second on.
_SCALES = (1.0, 1000.0, -0.5)
Leaves = dict[str, jax.Array | Array]


def probe(transform: optax.GradientTransformation, params: object) -> Leaves:
    """Compute the updates of a transform over three steps, for gradients that are the same for every submission.

    Args:
      params: a pytree of arrays; only their shapes and dtypes matter.
    Returns:
      Step and leaf path (`1/kernel`) -> update, which is traced if the learning rate is.
    Raises:
      Exception: of any type, from the transform.
    """
    weights = jax.tree.map(lambda leaf: _filled(leaf, 0.1), params)
    state = transform.init(weights)
    found: Leaves = {}
    for number, scale in enumerate(_SCALES, 1):
        gradients = jax.tree.map(lambda leaf, scale=scale: _filled(leaf, scale), params)
        updates, state = transform.update(gradients, state, weights)
        # Like optax.apply_updates, cast updates to the parameters' dtype.
        updates = jax.tree.map(lambda update, weight: update.astype(weight.dtype), updates, weights)
        found |= {f"{number}/{path}": leaf for path, leaf in leaves_of(updates).items()}
    return found


def leaves_of(tree: object) -> Leaves:
    """Leaf path -> array. A path consists of keys and attributes."""
    pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {"/".join(str(getattr(key, "key", getattr(key, "name", key))) for key in path): leaf for path, leaf in pairs}


class Built:
    """An optimizer and the model that it was built for, with their initial states. It keeps both alive.

    For an optimizer built during a trace, the first answer after that trace is final.
    """

    def __init__(self, optimizer: nnx.Optimizer[Any], model: object) -> None:
        self.optimizer, self._model = optimizer, model
        self._before = self._leaves()
        self._traced = any(isinstance(leaf, jax.core.Tracer) for part in self._before for leaf in part.values())
        self._movement: str | None = None

    def movement(self) -> str:
        """`moved`; `still` if the optimizer has stepped but the model has not moved; otherwise `unknown`."""
        if self._movement is None or not self._traced:
            optimizer, model = (_differ(*pair) for pair in zip(self._before, self._leaves(), strict=True))
            self._movement = "moved" if model else "still" if optimizer else "unknown"
        return self._movement

    def _leaves(self) -> tuple[Leaves, Leaves]:
        return _read(nnx.state(self.optimizer)), _read(nnx.state(self._model, self.optimizer.wrt))


def _filled(leaf: jax.Array, scale: float) -> Array:
    size = int(np.prod(leaf.shape))
    ramp = scale * (1 + np.arange(size) % 7) / 4 * np.where(np.arange(size) % 2, -1, 1)
    return ramp.reshape(leaf.shape).astype(leaf.dtype)


def _read(state: object) -> Leaves:
    """Copy the arrays of a state, because a buffer may be donated later."""
    found = leaves_of(nnx.as_pure(state))
    return {path: leaf if isinstance(leaf, jax.core.Tracer) else np.array(leaf) for path, leaf in found.items()}


def _differ(before: Leaves, after: Leaves) -> bool:
    return before.keys() != after.keys() or any(not _is_same(leaf, after[path]) for path, leaf in before.items())


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    return one is other
