"""Find what a manifest says about outputs that the reference does not have.

Otherwise, a tolerance for a misspelt output would be ignored silently, and its dtype's used instead.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import numpy as np

from grader.checks.call import values
from grader.checks.value_parts import EVERYTHING
from grader.core.wire import leaves
from grader.package.package import Manifest
from grader.review.names import suggest


def unmatched_outputs(manifest: Manifest, outputs: Iterable[tuple[str, object]]) -> list[str]:
    """Find the globs of `output_tolerances` that match no output. A mode calls this once the reference has run.

    Args:
      outputs: the paths and leaves of what the reference returns.
    """
    dtypes: dict[str, set[str]] = {}
    for path, leaf in outputs:
        if isinstance(leaf, np.ndarray | float):
            dtypes.setdefault(path, set()).add(leaf.dtype.name if isinstance(leaf, np.ndarray) else "float32")
    faults = []
    for number, entry in enumerate(manifest.output_tolerances):
        for glob in entry.outputs:
            alone = entry.model_copy(update={"outputs": [glob]})
            if any(alone.is_for(path, dtype) for path, those in dtypes.items() for dtype in those):
                continue
            where = f"problem.toml: output_tolerances.{number}.outputs"
            matching = {dtype for path, those in dtypes.items() if fnmatchcase(path, glob) for dtype in those}
            if matching:
                wanted = entry.dtype or "a float or complex dtype"
                faults.append(f"{where}: what '{glob}' matches is {', '.join(sorted(matching))}, not {wanted}")
            else:
                faults.append(f"{where}: no output of the reference matches '{glob}'{suggest(glob, sorted(dtypes))}")
    return faults


def unmatched_parts(manifest: Manifest, results: Mapping[str, object]) -> list[str]:
    """Find the globs of the parts of `values` that match no output or no case.

    Args:
      results: what the reference returns, by the id of the case.
    """
    paths = sorted({path for result in results.values() for path, _ in leaves(result)})
    bounds = next((check.bounds for check in manifest.checks if isinstance(check.bounds, values.Bounds)), None)
    faults = []
    for number, part in enumerate(bounds.parts if bounds else ()):
        for key, globs, known, what in (
            ("outputs", part.outputs, paths, "output of the reference"),
            ("cases", part.cases, list(results), "case"),
        ):
            for glob in globs:
                if glob != EVERYTHING and not any(fnmatchcase(each, glob) for each in known):
                    where = f"problem.toml: check 'values': parts.{number}.{key}"
                    faults.append(f"{where}: no {what} matches '{glob}'{suggest(glob, known)}")
    return faults
