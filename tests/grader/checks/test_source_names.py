# ruff: noqa: E501  (rows of a table are easier to read whole)
"""Which names a source uses, whatever it imports them as."""

import pytest

from grader.checks.source_names import full_name, names_used


def uses(source: str, name: str) -> list[tuple[int, str]]:
    return [(use.line, use.written) for use in names_used(source) if use.is_of(full_name(name))]


@pytest.mark.parametrize(
    ("source", "name", "found"),
    [
        ("import jax\njax.numpy.sort(x)", "jnp.sort", [(2, "jax.numpy.sort")]),
        ("import jax.numpy as J\nJ.sort(x)", "jnp.sort", [(2, "J.sort")]),
        ("from jax import numpy\nnumpy.sort(x)", "jnp.sort", [(2, "numpy.sort")]),
        ("from jax import numpy\nnumpy.sort(x)", "numpy", []),
        ("from jax.numpy import sort as s\ns(x)", "jnp.sort", [(1, "jax.numpy.sort"), (2, "s")]),
        ("import jax.numpy.linalg\njax.numpy.linalg.solve", "jnp.linalg.solve", [(2, "jax.numpy.linalg.solve")]),
        ("import numpy", "numpy", [(1, "numpy")]),
        ("import numpy.linalg", "numpy", [(1, "numpy.linalg")]),
        ("import numpy.linalg", "numpy.linalg.solve", []),
        ("import numpyro", "numpy", []),
        ("from numpy import *", "numpy.sort", [(1, "numpy.*")]),
        ("from numpy import *", "numpy", [(1, "numpy.*")]),
        ("from numpy import *", "jnp.sort", []),
        ("from .numpy import sort\nsort(x)", "numpy.sort", []),
        ("import jax.numpy as jnp\nla = jnp.linalg\ns = la.solve\ns(x)", "jnp.linalg", [(2, "jnp.linalg"), (3, "la.solve"), (4, "s")]),
        ("def f(x):\n    import numpy as np\n    return np.sort(x)", "numpy.sort", [(3, "np.sort")]),
        ("import numpy as np\ndef f(np):\n    return np.sort(1)", "numpy.sort", []),
        ("import numpy as np\nf = lambda x: np.sort(x)", "numpy.sort", [(2, "np.sort")]),
        ("import numpy as np\nclass A:\n    y = np.sort\n    def f(self):\n        return np.sort", "numpy.sort", [(3, "np.sort"), (5, "np.sort")]),
        ("import numpy as np\ny = [np.sort(x) for x in z]", "numpy.sort", [(2, "np.sort")]),
        ("import numpy as np\n@np.vectorize\ndef f(x: np.ndarray = np.pi) -> np.int8: ...", "numpy.vectorize", [(2, "np.vectorize")]),
        ("import numpy as np\nnp.ones(2).sort()", "numpy.sort", []),
        ("sorted(x)", "sorted", [(1, "sorted")]),
        ("def sorted(x): ...\nsorted(x)", "sorted", []),
        ("sorted = 3\nprint(sorted)", "sorted", []),
        ("if c:\n    import numpy as np\nelse:\n    import jax.numpy as np\nnp.sort", "numpy.sort", [(5, "np.sort")]),
        ("a = b\nb = a\na.sort", "numpy.sort", []),
        ("import numpy as np\nnp = np\nnp.sort", "numpy.sort", [(3, "np.sort")]),
        ("\N{BYTE ORDER MARK}import numpy", "numpy", [(1, "numpy")]),
    ],
    ids=lambda value: value.replace("\n", "; ")[:40] if isinstance(value, str) else str(len(value)),
)  # fmt: skip
def test_names_are_found_under_what_they_were_imported_as(source: str, name: str, found: list[tuple[int, str]]) -> None:
    assert uses(source, name) == found
