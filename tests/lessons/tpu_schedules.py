"""What the compiler for TPUs made of the programs in tests/grader/program/scheduled, and a CPU's program of one."""

from functools import cache

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import Census, take_census
from grader.program.schedule import Schedule, ScheduledComputation
from tests.grader.program.scheduled_programs import functions
from tests.grader.program.test_schedule import schedule_of


@cache
def scheduled(name: str) -> Schedule:
    return schedule_of(name)


def forward_loop(name: str) -> ScheduledComputation:
    """Return the body of the loop over layers in the forward pass."""
    return next(each for each in scheduled(name).computations if each.caller)


def cycles_of(computation: ScheduledComputation) -> int:
    return sum(each.cycles or 0 for each in computation.steps)


def hidden_cycles(computation: ScheduledComputation) -> int:
    """Return the cycles of the steps that run while a collective of the computation is in flight."""
    return sum(step.cycles or 0 for each in computation.collectives for step in computation.between(each))


@cache
def gathered_ahead_on_cpu() -> Census:
    """Compile the step of three layers that is `gathered_ahead` on TPUs for 8 host devices, and take its census."""
    mesh = jax.make_mesh((8,), ("fsdp",), axis_types=(AxisType.Auto,))
    rows = NamedSharding(mesh, P("fsdp"))
    weights = [jax.ShapeDtypeStruct((256, 256), jnp.float32, sharding=rows)] * 3
    x = jax.ShapeDtypeStruct((1024, 256), jnp.float32, sharding=rows)
    step = jax.jit(functions()["gathered_ahead"], out_shardings=(rows,) * 3, donate_argnums=(0, 1, 2))
    return take_census(step.lower(*weights, x).compile().as_text() or "", 8)
