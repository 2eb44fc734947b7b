"""What the tests of the compilers for GPUs and for TPUs share."""

from grader.explorer.description import explored
from grader.explorer.exploration import ChipProgram
from grader.inputs.explored_function import read_function
from grader.judging.judge import Judge
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import CheckResult, Verdict

GATHER = "import jax\n\ndef f(x, w):\n    return jax.numpy.dot(x, w)\n"
INPUTS = 'x: float32[1024, 1024] P("data")\nw: float32[1024, 1024] P("data")'


def on_chip(judge: Judge, chip: str, source: str = GATHER, mesh: str = "data=8", inputs: str = INPUTS) -> ChipProgram:
    """The program of the source's function `f` on as many chips as the mesh has devices."""
    [program] = explored(judge.inspect_function(read_function("f", mesh, inputs), source, chip=chip)).programs
    assert program.on_chip is not None
    return program.on_chip


def overlap_of(verdict: Verdict) -> CheckResult:
    return next(check for check in verdict.checks if check.id == "overlap")


def hidden_in(verdict: Verdict, topology: str) -> Amount:
    """The operations that hide the only gather of the loop on a slice."""
    [amounts] = [each for each in overlap_of(verdict).evidence if isinstance(each, Amounts) and topology in each.title]
    [row] = amounts.rows
    return row
