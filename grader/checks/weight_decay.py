"""Detect weight decay: shrinking by a millionth in each step is below every tolerance, but always in one direction.

Correct programs differ from the reference by rounding, which has no direction. Weight decay changes every element by
the same share of itself. So a leaf's differences from the expected values are compared with its initial values, over
all elements at once.
"""

import numpy as np

from grader.checks.compare import Mismatch
from grader.core.wire import Array
from grader.program.measurement import Leaves
from grader.verdicts.evidence import Difference

# Over a leaf, rounding amounts to less than a hundredth of this share. The default decay of optax.adamw at a learning
# rate of 0.01 is twice as much in one step.
LEAST_SHARE = 5e-7
# At least this share of the squared differences must come from the decay.
_LEAST_EXPLAINED = 0.5
_LEAST_ELEMENTS = 16


def decay_of(start: Leaves, expected: Leaves, got: Leaves) -> Mismatch | None:
    """Find the first leaf that shrank more or less than it should have, although all leaves are within the tolerance.

    Args:
      start: the state before the first step.
      expected, got: the leaves after some step, of the same shapes.
    """
    for path, before in start.items():
        if before.dtype != np.float32 or before.size < _LEAST_ELEMENTS or path not in expected:
            continue
        if np.array_equal(expected[path], got[path]):
            continue
        share = _share(*(leaf.astype(np.float64).ravel() for leaf in (before, expected[path], got[path])))
        if share == 0:
            continue
        kind = "your weights shrink and should not" if share < 0 else "your weights should shrink and do not"
        text = (
            f"leaf {path}: {kind}. Each element is within the tolerance, but together they differ from the expected "
            f"ones by {abs(share):.2g} times their initial values. That is weight decay: `optax.adamw` has it by "
            "default, and `optax.adam` does not."
        )
        difference = Difference(expected=f"{0 if share < 0 else -share:.2g}", got=f"{share if share < 0 else 0:.2g}")
        return Mismatch("wrong_value", kind, text, difference)
    return None


def _share(before: Array, expected: Array, got: Array) -> float:
    """The share of `before` by which the two results differ; 0 if rounding explains the difference."""
    # If all elements are equal, a shift and a decay look the same.
    before, update, apart = (each - each.mean() for each in (before, expected - before, got - expected))
    # A factor that is rounded differently, such as a bias correction, scales the update. That is not decay.
    before, apart = _without(before, update), _without(apart, update)
    weight, total = float(before @ before), float(apart @ apart)
    if not (np.isfinite(total) and weight > 0 and total > 0):
        return 0.0
    share = float(apart @ before) / weight
    is_decay = abs(share) >= LEAST_SHARE and share**2 * weight >= _LEAST_EXPLAINED * total
    return share if is_decay else 0.0


def _without(values: Array, direction: Array) -> Array:
    size = float(direction @ direction)
    return values - (float(values @ direction) / size) * direction if size > 0 else values
