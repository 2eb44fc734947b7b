"""Programs that warm-ups compiled are stored on disk, and a fork that was not warmed gets them from there."""

from contextlib import nullcontext

import numpy as np

from grader.package.package import Limits
from grader.sandbox.compiled_programs import CompiledPrograms
from grader.sandbox.protocol import Warmup

WARMUP = Warmup("version-1", "def warm(): ...")
PROGRAM = np.arange(5, dtype=np.uint8)


class Fork:
    """Compiles one program, and records its arguments."""

    def __init__(self) -> None:
        self.given: list[dict[str, object]] = []

    def warm(self, message, values, limits):
        return {}, {"entries": {"key": PROGRAM}}

    def ask(self, message, values):
        assert message["source"] == ""
        self.given.append(values["entries"])


def test_another_process_lends_what_an_earlier_one_compiled(tmp_path):
    CompiledPrograms(tmp_path).ensure(8, WARMUP, Limits(), lambda: nullcontext(Fork()))
    later = CompiledPrograms(tmp_path)
    fork = Fork()
    later.lend(fork, 8, WARMUP)
    assert [list(each["key"]) for each in fork.given] == [list(PROGRAM)]
    assert later.has(8, WARMUP)


def test_what_nobody_has_compiled_is_not_lent(tmp_path):
    programs = CompiledPrograms(tmp_path)
    fork = Fork()
    programs.lend(fork, 8, WARMUP)
    assert fork.given == []
    assert not programs.has(8, WARMUP)
