"""A small package of answer mode, and a sandbox that runs its code in this process, because it is our own."""

import hashlib
import hmac
import types
from typing import Any

import numpy as np

from grader.core.errors import SubmissionFault
from grader.modes.report import NO_OUTPUT
from grader.package.package import Package
from grader.review.reader import package_of
from grader.sandbox.null_sandbox import NullSandbox, NullSession

MANIFEST = """
schema_version = 1
uuid = "3f0f6f3e-8c63-4a3f-8f5f-0a43d3a0c5b2"
slug = "shard_bytes"
title = "Bytes of a shard"
summary = "Say how many bytes a device stores."
track = "Trial"
difficulty = "easy"
mode = "answer"
variants = 16
authors = ["Meshgrade"]
licence = "Apache-2.0"

[mesh]
axes = "fsdp"
shape = ["rows"]

[[answers]]
id = "bytes"
label = "Bytes on one device"
kind = "number"
unit = "bytes"

[[answers]]
id = "spec"
label = "Its spec"
kind = "spec"

[[checks]]
id = "values"
points = 100
"""
QUESTIONS = '''"""Bytes of a shard."""


def draw(rng):
    return {"rows": int(rng.integers(1, 1000)) * 8, "fsdp": int(rng.choice([2, 4, 8]))}


def truth(parameters):
    return {"bytes": parameters["rows"] * 4 // parameters["fsdp"], "spec": "P('fsdp', None)"}


def steps(parameters):
    return {"whole": parameters["rows"] * 4}
'''
MISTAKES = '''"""Wrong formulas."""

from questions import truth


def whole(parameters):
    """You count the whole array.
    Each device stores a part."""
    return {"bytes": parameters["rows"] * 4}


def as_the_truth(parameters):
    """This one is right."""
    return truth(parameters)
'''
FILES = {
    "problem.toml": MANIFEST,
    "statement.md": "Say how many bytes a device stores.",
    "hints.md": "## Hint 1\nDivide.\n\n## Hint 2\nBy `fsdp`.\n",
    "editorial.md": "Divide the bytes of the array by the devices.",
    "question.md": "An array of {{ rows }} float32 is split over {{ fsdp }} devices.",
    "questions.py": QUESTIONS,
    "mistakes.py": MISTAKES,
    "explanation.md": "{{ whole }} bytes, over {{ fsdp }} devices: {{ answer.bytes:bytes }}.",
}


def package(**changed: str) -> Package:
    """The package with other texts for some files. Write two underscores for a dot in a file name."""
    return package_of("shard_bytes", FILES | {name.replace("__", "."): text for name, text in changed.items()})


class InHere(NullSandbox):
    """A sandbox that counts in `opened` how many runners were opened."""

    def __init__(self) -> None:
        super().__init__(lambda message, values: ({}, {}))
        self.opened = 0

    def open(self, *args: Any, **kwargs: Any) -> Any:
        self.opened += 1
        return NullSession(_Runner().reply, NO_OUTPUT)


class _Runner:
    def __init__(self) -> None:
        self._module = types.ModuleType("loaded")
        self._entry = ""

    def reply(self, message: dict[str, Any], values: dict[str, Any]) -> Any:
        if message["op"] == "load":
            exec(compile(message["source"], "loaded", "exec"), self._module.__dict__)
            self._entry = message["entry"]
            return {}, {}
        function = getattr(self._module, self._entry, None)
        if function is None:
            raise SubmissionFault("missing_entry", self._entry)
        if message["op"] == "call":
            return {}, {"result": function(*values["args"])}
        rng, cases = np.random.default_rng(0), []
        made = iter(function(rng))
        while True:
            seed = hmac.new(bytes.fromhex(message["key"]), f"case {len(cases)}".encode(), hashlib.sha256).digest()
            rng.bit_generator.state = np.random.PCG64(int.from_bytes(seed, "big")).state
            if (case := next(made, None)) is None:
                return {}, {"cases": cases}
            cases.append(case)
