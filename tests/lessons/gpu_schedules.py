"""What the compiler for GPUs made of the programs in tests/grader/program/scheduled_on_gpus."""

from functools import cache

from grader.program.schedule import Schedule, ScheduledCollective, ScheduledComputation
from tests.grader.program.test_gpu_schedule import schedule_of


@cache
def scheduled(name: str) -> Schedule:
    return schedule_of(name)


def main_of(name: str) -> ScheduledComputation:
    """Return the program itself, without the bodies of its loops."""
    return scheduled(name).computations[0]


def forward_loop(name: str) -> ScheduledComputation:
    """Return the body of the loop over layers in the forward pass."""
    return next(each for each in scheduled(name).computations if each.caller and each.collectives)


def collectives(name: str, kind: str) -> list[ScheduledCollective]:
    """Return the collectives of a kind in the program itself."""
    return [each for each in main_of(name).collectives if each.kind == kind]


def hidden_flops(computation: ScheduledComputation, each: ScheduledCollective) -> int:
    """Return the FLOPs of the products that run while a collective is in flight."""
    return sum(step.flops or 0 for step in computation.between(each))
