"""A pytree of arrays, as the submission's functions take and return it."""

import collections
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from grader.core.wire import DTYPES, MAX_LEAVES, MAX_PATH, Array, unsendable
from grader.runner.submission import SubmissionFailed


class Tree:
    """The paths and leaves of a pytree, in JAX's order."""

    def __init__(self, paths: list[str], leaves: list[Any], structure: jax.tree_util.PyTreeDef | None) -> None:
        self.paths, self.leaves, self.structure = paths, leaves, structure

    @classmethod
    def of(cls, value: object) -> "Tree":
        pairs, structure = jax.tree_util.tree_flatten_with_path(value)
        return cls([_path_of(keys) for keys, _ in pairs], [leaf for _, leaf in pairs], structure)

    def check(self, function: str, what: str) -> None:
        """Check that the values of all leaves can be returned.

        Raises:
          SubmissionFailed: `wrong_dtype`, or `wrong_structure` if it has no leaf, or one that is not an array.
        """
        self.check_form(function, what)
        for path, leaf in zip(self.paths, self.leaves, strict=True):
            if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
                raise SubmissionFailed(
                    "wrong_structure",
                    f"`{function}` returns a {what} whose leaf {path} is a PRNG key: store `jax.random.key_data(key)`.",
                )
            dtype = leaf.dtype.name if isinstance(leaf, jax.Array | np.ndarray | np.generic) else "float32"
            if dtype not in DTYPES:
                raise SubmissionFailed(
                    "wrong_dtype", f"`{function}` returns a {what} whose leaf {path} is {unsendable(dtype)}"
                )

    def check_form(self, function: str, what: str, *, most: int = MAX_LEAVES) -> None:
        """Check that all leaves are arrays, perhaps abstract ones. Raises SubmissionFailed, `wrong_structure`."""
        if not self.leaves:
            raise SubmissionFailed("wrong_structure", f"`{function}` returns a {what} that contains no array.")
        if len(self.leaves) > most:
            raise SubmissionFailed(
                "wrong_structure",
                f"`{function}` returns a {what} of {len(self.leaves)} leaves. At most {most} are read.",
            )
        twice = [path for path, number in collections.Counter(self.paths).items() if number > 1]
        if twice:
            raise SubmissionFailed("wrong_structure", f"`{function}` returns two leaves named {twice[0]}.")
        for path, leaf in zip(self.paths, self.leaves, strict=True):
            if not isinstance(leaf, jax.Array | jax.ShapeDtypeStruct | np.ndarray | np.generic | bool | int | float):
                kind = type(leaf).__name__[:80]
                raise SubmissionFailed(
                    "wrong_structure", f"`{function}` returns a {what} whose leaf {path} is a {kind}, not an array."
                )

    def to_host(self) -> dict[str, Array]:
        return {path: np.asarray(leaf) for path, leaf in zip(self.paths, self.leaves, strict=True)}


def _path_of(keys: Sequence[object]) -> str:
    """The leaf path, such as `params/w1`: dict keys, attributes and indices, without the `value` of an nnx variable."""
    names = [str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))) for key in keys]
    if len(names) > 1 and names[-1] in ("value", "raw_value"):
        names.pop()
    return "/".join(names)[:MAX_PATH]
