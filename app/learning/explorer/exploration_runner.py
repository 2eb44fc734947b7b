"""Runs explorations with the judge.

They wait in the same queue as submissions, except those for chips, which can take minutes.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from app.core.errors import PackageNotStored
from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.protocol import Grader, PackageSource
from app.learning.explorer.models import ExplorationRow
from grader.core.chips import ChipName
from grader.core.errors import SubmissionFault
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import Explored, ExploredFault
from grader.inputs.explored_function import Function
from grader.package.variants import VariantMissing, of_variant
from grader.program.measurement import Measured, OnFirst

_FAILED = "The grader failed; your source is not at fault. Explore it again."


class Explorer:
    """Explores what was requested: `jobs`."""

    def __init__(self, grader: Grader, packages: PackageSource) -> None:
        self._grader = grader
        self._packages = packages
        of_chips = ExplorationRow.is_long()
        self.jobs = [
            Jobs(ExplorationRow, self._explore, only_if=(condition,), is_long=is_long)
            for condition, is_long in ((~of_chips, False), (of_chips, True))
        ]

    async def _explore(self, job: Job[ExplorationRow]) -> None:
        result = await self._result_of(job)
        if result is not None:
            await job.finish(result=result.model_dump(mode="json"))

    async def _result_of(self, job: Job[ExplorationRow]) -> Explored | None:
        """None if the lease has been lost."""
        if job.row.result is not None:
            # A part that an earlier try found.
            await job.write(result=None)
        if job.is_given_up:
            return _failed(f"The grader died {job.deaths} times while it compiled this source.")
        grader, row = self._grader, job.row
        context = job.context
        chip = cast(ChipName | None, row.chip)
        if row.function is not None:
            function = Function.model_validate(row.function)
            inspect = partial(grader.inspect_function, function, context=context, chip=chip)
        else:
            assert row.version is not None
            try:
                package = of_variant(await self._packages.get(row.version), row.variant)
            except (PackageNotStored, VariantMissing) as error:
                return _failed(f"This version of the problem cannot be read: {error}.")
            inspect = partial(grader.inspect, package, context=context, chip=chip)

        def on_first(measured: Measured) -> None:
            job.store_part(result=explored((measured,)).model_dump(mode="json"), phase=job.phase)

        return await job.call(
            lambda: _explored(row, inspect, on_first), lambda _: _failed(_FAILED), lambda: {"phase": job.phase}
        )


def _explored(row: ExplorationRow, inspect: Callable[..., tuple[Measured, ...]], on_first: OnFirst) -> Explored:
    programs: list[tuple[Measured, ...]] = []
    try:
        # A comparison shows both versions or nothing.
        tell = on_first if row.against is None else None
        programs.append(inspect(row.source, options=row.xla_options, on_first=tell))
        if row.against is not None:
            programs.append(inspect(row.against, options=row.against_xla_options))
        return explored(*programs)
    except SubmissionFault as fault:
        return fault_of(fault, "against" if programs else "source")


def _failed(message: str) -> Explored:
    return Explored(fault=ExploredFault(of="source", reason=None, message=message, line=None))
