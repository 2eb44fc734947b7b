"""A package to start from: a tiny problem that is complete, with a mark at each part that the author replaces."""

import re
from collections.abc import Mapping
from uuid import uuid4

from app.authoring.answer_package_template import answer_package
from grader.review.rules import MARK
from grader.verdicts.verdict import Mode

_HEAD = """\
schema_version = 1
uuid = "{uuid}"
slug = "{slug}"
# {mark}: the heading of the page, and one line for the list of problems
title = "{title}"
summary = "{summary}"
track = "{track}"
# {mark}: "easy", "medium" or "hard", and words to search for
difficulty = "easy"
tags = []
mode = "{mode}"
entry = "{slug}"
devices = 8
prerequisites = []
# {mark}: your name
authors = ["Anonymous"]
licence = "Apache-2.0"

[limits]
time_s = 20
wall_s = 60
memory_mb = 2048
output_mb = 16
"""

_CALL = {
    "problem.toml": _HEAD
    + """
[[checks]]
id = "values"
points = 100
title = "The sums, one for each part"

# {mark}: measure how far accepted submissions differ from the reference, and stay well below the closest mistake
[tolerance.float32]
rtol = 1e-5
atol = 1e-6
""",
    "statement.md": """\
## Problem

{mark}: the task; the page writes the points and bounds below it

Write `{slug}(x, parts)`. It splits `x` into `parts` equal parts, in order, and returns the sum of each part.

| name | type | meaning |
|---|---|---|
| `x` | array of shape `(n,)`, float32 | the numbers |
| `parts` | int | how many parts; it divides `n` |
| result | array of shape `(parts,)`, float32 | the sums |

## Why this matters

{mark}: where this occurs in practice, and what goes wrong there
""",
    "hints.md": """\
## Hint 1

{mark}: a question that points in the right direction

Which shape has one row for each part?

## Hint 2

{mark}: nearly the whole solution

Reshape `x` to `(parts, -1)`, and look at the argument `axis` of `sum`.
""",
    "editorial.md": """\
{mark}: the solution, the reasons behind it, and which problems to solve next

After `x.reshape(parts, -1)`, each row is one part. A sum along `axis=1` leaves one number for each row.
""",
    "starter.py": '''\
import jax


# {mark}: the signature and the shapes, as in the reference
def {slug}(x: jax.Array, parts: int) -> jax.Array:
    """The sum of each of `parts` equal parts of `x`.

    Args:
      x: shape (n,), float32.
      parts: how many parts; it divides n.
    Returns:
      Shape (parts,), float32.
    """
    raise NotImplementedError
''',
    "reference.py": '''\
"""One row for each part, summed along the row."""

import jax


# {mark}: your own solution, as plain as you can write it
def {slug}(x: jax.Array, parts: int) -> jax.Array:
    return x.reshape(parts, -1).sum(axis=1)
''',
    "cases.py": '''\
"""The inputs of {slug}."""

import numpy as np


# {mark}: for each rule of the statement, a case in which breaking it changes the output
def public_cases():
    """Shown in full, so small enough to print."""
    return [{{"x": np.arange(6, dtype=np.float32), "parts": 3}}]


def hidden_cases(rng):
    """Drawn again for each attempt: only values depend on `rng`. Two sizes, so that no output can be hard-coded."""
    yield {{"x": rng.standard_normal(24, dtype=np.float32), "parts": 4}}
    yield {{"x": rng.standard_normal(40, dtype=np.float32), "parts": 8}}
''',
    "submissions/accepted/loop.py": '''\
"""Each part is cut out and summed on its own."""

import jax.numpy as jnp


# {mark}: a right solution in another style
def {slug}(x, parts):
    return jnp.stack([part.sum() for part in jnp.split(x, parts)])
''',
    "submissions/rejected/wrong_value/mean_of_parts.py": '''\
"""Each result is the mean of a part, not its sum."""


# {mark}: a mistake that students make; the line above tells them what they misunderstood
def {slug}(x, parts):
    return x.reshape(parts, -1).mean(axis=1)
''',
    "submissions/rejected/wrong_shape/sum_of_everything.py": '''\
"""The result is one number: all parts were added up."""


def {slug}(x, parts):
    return x.reshape(parts, -1).sum()
''',
}

_PROGRAM = {
    "problem.toml": _HEAD
    + """
[program]
# {mark}: the meshes that the program is compiled for, and how the inputs are split over them
meshes = [{{ data = 8 }}, {{ data = 4 }}]

[program.inputs]
x = ["data"]

[[checks]]
id = "values"
points = 60
title = "Every column has mean 0"

[[checks]]
id = "sharding"
points = 30
title = "Each device keeps its own rows"

# Without rules: a device sends no more than in the accepted submission that sends most, which `problem check` measures.
[[checks]]
id = "collectives"
points = 10
title = "Only sums are sent"

# {mark}: measure how far accepted submissions differ from the reference, and stay well below the closest mistake
[tolerance.float32]
rtol = 1e-5
atol = 1e-5
""",
    "statement.md": """\
## Problem

{mark}: the task; the page writes the points and bounds below it

Write `{slug}(mesh, x)`. It subtracts from each column of `x` its mean over all rows. The program is compiled for
a mesh of 8 devices and for one of 4.

| name | type | where |
|---|---|---|
| `mesh` | `jax.sharding.Mesh` | one axis, `data`, of 8 or 4 devices |
| `x` | array of shape `(rows, columns)`, float32 | split by rows over `data`; 8 divides `rows` |
| result | as `x` | `P("data")` |

## Why this matters

{mark}: where this occurs in practice, and what goes wrong there
""",
    "hints.md": """\
## Hint 1

{mark}: a question that points in the right direction

Under `jax.jit`, is `x` the rows of one device or all rows?

## Hint 2

{mark}: nearly the whole solution

`jnp.mean(x, axis=0)` is the mean over all rows. `jax.lax.with_sharding_constraint` says where a result lives.
""",
    "editorial.md": """\
{mark}: the solution, the reasons behind it, and which problems to solve next

Under `jax.jit`, an array is global: its mean is the mean over the rows of all devices, and the partitioner inserts the
all-reduce. The constraint keeps the result where the rows are.
""",
    "starter.py": '''\
import jax
from jax.sharding import Mesh


# {mark}: the signature and the shapes, as in the reference
def {slug}(mesh: Mesh, x: jax.Array) -> jax.Array:
    """Subtract from each column its mean over all rows.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      x: shape (rows, columns), float32, split by rows over data.
    Returns:
      The same shape and dtype, sharded P("data").
    """
    raise NotImplementedError
''',
    "reference.py": '''\
"""The mean of the global array, and a constraint on the result."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


# {mark}: your own solution, as plain as you can write it
def {slug}(mesh: Mesh, x: jax.Array) -> jax.Array:
    centred = x - jnp.mean(x, axis=0)
    return jax.lax.with_sharding_constraint(centred, NamedSharding(mesh, P("data")))
''',
    "cases.py": '''\
"""The inputs of {slug}."""

import numpy as np


# {mark}: for each rule of the statement, a case in which breaking it changes the output
def public_cases():
    """Shown in full, so small enough to print."""
    return [{{"x": np.arange(24, dtype=np.float32).reshape(8, 3)}}]


def hidden_cases(rng):
    """Drawn again for each deployment: only values depend on `rng`. Two sizes, so that no output can be hard-coded."""
    yield {{"x": rng.standard_normal((16, 5), dtype=np.float32)}}
    yield {{"x": rng.standard_normal((24, 7), dtype=np.float32)}}
''',
    "submissions/accepted/shard_map.py": '''\
"""The mean by hand: each device sums its rows, and psum adds up the sums."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


# {mark}: a right solution in another style
def {slug}(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def centre(rows):
        return rows - jax.lax.psum(rows.sum(axis=0), "data") / x.shape[0]

    return centre(x)
''',
    "submissions/rejected/wrong_value/mean_of_own_rows.py": '''\
"""Each device subtracted the mean of its own rows, not the mean over the rows of all devices."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


# {mark}: a mistake that students make; the line above tells them what they misunderstood
def {slug}(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def centre(rows):
        return rows - rows.mean(axis=0)

    return centre(x)
''',
    "submissions/rejected/wrong_sharding/whole_on_every_device.py": '''\
"""Every device has all rows of the result: its sharding is P(), and P("data") is required."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def {slug}(mesh, x):
    return jax.lax.with_sharding_constraint(x - jnp.mean(x, axis=0), NamedSharding(mesh, P()))
''',
}
_PACKAGES: Mapping[Mode, tuple[str, str, Mapping[str, str]]] = {
    "call": ("Sum each part", "Split numbers into equal parts and sum each part.", _CALL),
    "program": ("Centre the columns", "Subtract from each column its mean over the rows of all devices.", _PROGRAM),
    "answer": (
        "Bytes of a shard",
        "Say how many bytes one device stores of an array that is split.",
        answer_package(_HEAD),
    ),
}


def new_package(slug: str, mode: Mode, track: str) -> dict[str, str]:
    """The files of a new package by path, with a fresh uuid."""
    title, summary, files = _PACKAGES[mode]
    values = {
        "slug": slug,
        "mode": mode,
        # As a basic string of TOML.
        "track": track.replace("\\", "\\\\").replace('"', '\\"'),
        "title": title,
        "summary": summary,
        "uuid": uuid4(),
        "mark": MARK,
    }
    return {name: text.format(**values) for name, text in files.items()}


def copied_package(files: Mapping[str, str], slug: str, track: str | None) -> dict[str, str]:
    """The files of an existing package under another slug, with a fresh uuid and a mark at its title."""
    lines = []
    in_head = True
    for line in files["problem.toml"].splitlines():
        in_head = in_head and not line.lstrip().startswith("[")
        key = re.match(r"\s*(\w+)\s*=", line) if in_head else None
        if key and key[1] == "slug":
            line = f'slug = "{slug}"'
        elif key and key[1] == "uuid":
            line = f'uuid = "{uuid4()}"'
        elif key and key[1] == "track" and track is not None:
            escaped = track.replace("\\", "\\\\").replace('"', '\\"')
            line = f'track = "{escaped}"'
        elif key and key[1] == "title":
            lines.append(f"# {MARK}: the heading of the page, and one line for the list of problems")
        lines.append(line)
    return {**files, "problem.toml": "\n".join(lines) + "\n"}
