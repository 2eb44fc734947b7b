"""An answer-mode package to start from. In each text, a mark and the values of a new package are in braces."""

_VALUES = ("mark", "slug", "uuid", "title", "summary", "track", "mode")
_FILES = {
    "problem.toml": """
# The parameters of a question that have its mesh and its array, for the drawing on the page
[mesh]
axes = "fsdp"
shape = ["rows", "columns"]

# {mark}: what the student writes: a number, a choice, a spec or a table, each within a tolerance
[[answers]]
id = "bytes"
label = "Bytes on one device"
kind = "number"
unit = "bytes"

[[answers]]
id = "spec"
label = "The spec of the array"
kind = "spec"

[[checks]]
id = "values"
points = 100
title = "Both answers"
""",
    "statement.md": """\
## Problem

{mark}: the question in general, and what the answers leave out

An array is split over the devices of a mesh, along its first dimension. Answer how many bytes one device stores, and
with which spec.

## Why this matters

{mark}: where people need this number, and what goes wrong if they have it wrong
""",
    "question.md": """\
{mark}: the question, with the numbers that were drawn

An array of shape ({{ rows }}, {{ columns }}) and dtype float32 is split over the axis `fsdp` of {{ fsdp }} devices,
along its first dimension.
""",
    "questions.py": """\
\"\"\"{mark}: what the questions are about. The right answers come from JAX, and not from a formula of your own.\"\"\"

import math

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def draw(rng):
    \"\"\"The numbers of one question, as plain data.\"\"\"
    return {
        "rows": 8 * int(rng.integers(2, 200)),
        "columns": int(rng.integers(3, 100)),
        "fsdp": int(rng.choice([2, 4, 8])),
    }


def truth(parameters):
    \"\"\"The right answers, by id. Bytes are a plain number, and a spec may be a PartitionSpec.\"\"\"
    mesh = Mesh(np.array(jax.devices()[: parameters["fsdp"]]), ("fsdp",))
    shard = NamedSharding(mesh, P("fsdp")).shard_shape((parameters["rows"], parameters["columns"]))
    return {"bytes": math.prod(shard) * 4, "spec": P("fsdp")}


def steps(parameters):
    \"\"\"More values for explanation.md.\"\"\"
    return {"whole": parameters["rows"] * parameters["columns"] * 4}
""",
    "mistakes.py": """\
\"\"\"Wrong formulas, one function each. Its docstring tells the student what they misunderstood.\"\"\"

from questions import truth


# {mark}: the mistakes that students make
def stores_everything(parameters):
    \"\"\"You count the whole array. Each device stores one part of it.\"\"\"
    return {"bytes": truth(parameters)["bytes"] * parameters["fsdp"]}


def splits_the_columns(parameters):
    \"\"\"You split the second dimension. The first entry of a spec belongs to the first dimension.\"\"\"
    return {"spec": "P(None, 'fsdp')"}
""",
    "explanation.md": """\
{mark}: how to get from the numbers of the question to the answers

The whole array has {{ whole }} bytes. Over {{ fsdp }} devices, that is {{ answer.bytes }} bytes on each
({{ answer.bytes:bytes }}), with the spec `{{ answer.spec }}`.
""",
    "hints.md": """\
## Hint 1

{mark}: a question that points in the right direction. How many bytes has one element?

## Hint 2

{mark}: nearly the whole way. Which of the two dimensions does the mesh axis divide?
""",
    "editorial.md": """\
{mark}: why the answers are what they are, and which problem to solve next

`NamedSharding(mesh, spec).shard_shape(shape)` is the shape of what one device stores.
""",
}


def answer_package(head: str) -> dict[str, str]:
    """The files, to be filled in by `str.format`. `head` is the beginning of a problem.toml of any mode."""
    first = "".join(line for line in head.splitlines(keepends=True) if not line.startswith("entry "))
    files = {name: _escaped(text) for name, text in _FILES.items()}
    return {**files, "problem.toml": first + files["problem.toml"]}


def _escaped(text: str) -> str:
    """All braces but those around a value are the package's own."""
    text = text.replace("{", "{{").replace("}", "}}")
    for name in _VALUES:
        text = text.replace("{{" + name + "}}", "{" + name + "}")
    return text
