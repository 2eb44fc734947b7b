"""The interface between the judge and the process that runs submitted code."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from grader.core.chips import Lowering
from grader.core.context import NEVER, Stop
from grader.core.errors import SubmissionFault
from grader.core.wire import Argument, ArrayForm, Frame, Message, Values
from grader.package.package import Limits
from grader.verdicts.package_study import Spent


@dataclass(frozen=True, slots=True)
class Warmup:
    """A package's warmup.py: public code that compiles operations of its shapes. `version` is the package's."""

    version: str
    source: str


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """What kind of runner to start. `devices` is its number of host devices.

    A verifier is a runner that takes programs instead of submissions; with program `tpu` or `gpu`, it compiles them for
    such chips. A runner that serves several submissions has `share` times the limits on time.
    """

    devices: int
    limits: Limits
    warmup: Warmup | None = None
    program: Literal["serve", "verify", "tpu", "gpu"] = "serve"
    background: bool = False
    own: bool = False
    share: int = 1

    @property
    def compiles_for_chip(self) -> bool:
        return self.program in ("tpu", "gpu")


@dataclass(frozen=True, slots=True)
class Output:
    """A runner's output as text. `truncated` is true if it printed more than is kept."""

    stdout: str
    stderr: str
    truncated: bool


class Requests(Protocol):
    """The requests that a session can send to a runner or a verifier. Each session implements `request`.

    Each of them raises SubmissionFault for anything that the submission did, or failed to do in time, GraderFault for
    our own faults, and Cancelled if the caller stopped it. A reply may come from a process that a submission took over,
    so the caller must check its form.
    """

    def request(self, message: Message, values: Values | None = None) -> Frame:
        """Send one frame and return the reply."""
        raise NotImplementedError

    def request_each(self, frames: Sequence[Frame]) -> Iterator[Frame | SubmissionFault]:
        """Send frames that do not depend on one another's replies, and yield each reply, or the fault, in their order.

        A session that can do so sends all of them at once, so that the process need not wait for the next one. After
        that, it answers nothing else until all replies have been read.
        """
        for message, values in frames:
            try:
                yield self.request(message, values)
            except SubmissionFault as fault:
                yield fault

    def load(
        self, source: str, entry: str, *, devices: int | None = None, modules: Mapping[str, str] | None = None
    ) -> None:
        """Run a source as a module, which must define the function `entry`. It sees `devices` devices, and can
        import further `modules`, given as sources by name.
        """
        message = {"op": "load", "source": source, "entry": entry, "devices": devices}
        self.request({**message, "modules": dict(modules or {})})

    def execute(self, source: str) -> None:
        """Run a source as a script. `Session.output` has what it prints."""
        self.request({"op": "execute", "source": source})

    def call(self, args: Sequence[object]) -> dict[str, object]:
        """Call the entry point. Return its `result` and the calls that the spies `observed`."""
        return self.request({"op": "call"}, {"args": list(args)})[1]

    def call_each(
        self, calls: Sequence[Sequence[object]], made: Sequence[Mapping[int, str]]
    ) -> Iterator[dict[str, object] | SubmissionFault]:
        """Call the entry point with each of these arguments. Yield what `call` returns, or the fault.

        Args:
          made: maps, for each call, the position of an argument to what is made from its value: a "key" or a "mesh".
        """
        frames: list[Frame] = [
            ({"op": "call", "made": [[place, kind] for place, kind in kinds.items()]}, {"args": list(args)})
            for args, kinds in zip(calls, made, strict=True)
        ]
        for reply in self.request_each(frames):
            yield reply if isinstance(reply, SubmissionFault) else reply[1]

    def cases(self, key: str | None) -> object:
        """Get the cases of a loaded cases.py: the hidden ones drawn from `key`, or the public ones if it is None."""
        return self.request({"op": "cases", "key": key})[1].get("cases")

    def export(
        self,
        mesh: dict[str, int],
        args: Sequence[Argument],
        *,
        explicit: Sequence[str],
        init: str | None,
        export_init: bool,
        seeds: Sequence[object],
        lowerings: Sequence[Lowering] = (),
    ) -> dict[str, object]:
        """Export the entry point for one mesh. See `grader.runner.export.export_program` for the arguments."""
        message = {"op": "export", "mesh": mesh, "explicit": list(explicit), "args": list(args), "init": init}
        more: Message = {"export_init": export_init, "seeds": list(seeds), "lowerings": list(lowerings)}
        return self.request({**message, **more})[1]

    def export_function(
        self,
        mesh: dict[str, int],
        args: Sequence[Argument],
        *,
        explicit: Sequence[str],
        init: str | None,
        of_problem: bool,
        lowerings: Sequence[Lowering],
        capability: int,
    ) -> dict[str, object]:
        """Export a function of no problem. See `grader.runner.explored_export.export_function` for the arguments."""
        message = {
            "op": "export_function",
            "mesh": mesh,
            "args": list(args),
            "init": init,
            "lowerings": list(lowerings),
            "capability": capability,
        }
        return self.request({**message, "explicit": list(explicit), "of_problem": of_problem})[1]

    def two_steps(self, number: int, mesh: dict[str, int]) -> object:
        """Get the text of a program that calls the program of export `number`, which was for `mesh`, twice."""
        return self.request({"op": "two_steps", "number": number, "mesh": mesh})[1].get("two_steps")

    def states(self, number: int, mesh: dict[str, int], seeds: Sequence[object]) -> object:
        """Get the states that `init` makes from more seeds, on the mesh of export `number`, counted from 0."""
        message: Message = {"op": "states", "number": number, "mesh": mesh, "seeds": list(seeds)}
        return self.request(message)[1].get("states")

    def compile(
        self,
        mesh: dict[str, int],
        artifact: object,
        inputs: Sequence[ArrayForm],
        *,
        state: int,
        alone: bool,
        listing: bool = False,
    ) -> Message:
        """Let a verifier compile an exported program. See `grader.verifier.load.load` for the arguments.

        Returns:
          Its `facts`, or only `kernels` if it calls native kernels and the verifier is not `alone`. With `listing`,
          also the `listing` of the compiled program, and that of the exported program as `written`.
        """
        message = {"op": "compile", "mesh": mesh, "inputs": list(inputs), "state": state, "alone": alone}
        return self.request({**message, "listing": listing}, {"artifact": artifact})[0]

    def second_step(self, state: int, two_steps: object) -> object:
        """Let a verifier find out whether the program that it compiled last is traced again for a second step.

        Args:
          state: how many leaves its state has.
          two_steps: the text of a program that calls it twice.
        """
        message: Message = {"op": "second_step", "state": state}
        return self.request(message, {"two_steps": two_steps})[0].get("retraced")

    def compile_for(
        self,
        topology: str,
        mesh: dict[str, int],
        artifact: object,
        inputs: Sequence[ArrayForm],
        *,
        state: int,
        facts: bool = False,
        options: Mapping[str, str],
    ) -> Message:
        """Let a verifier with program `tpu` or `gpu` compile an exported program for a slice.

        Args:
          options: of XLA, as `grader.core.xla_options.read_option` returns their values. Only GPUs have some.
        Returns:
          `program`: `ChipFacts` as JSON. With `facts`, also the program's `facts`, as `compile` returns them.
        """
        message = {"op": "compile_for", "topology": topology, "mesh": mesh, "inputs": list(inputs), "state": state}
        return self.request({**message, "facts": facts, "options": dict(options)}, {"artifact": artifact})[0]

    def run(self, steps: int, state: Sequence[object], inputs: Sequence[object]) -> object:
        """Let a verifier run the program that it compiled last. Return the result of each step."""
        values: dict[str, object] = {"state": list(state), "inputs": list(inputs)}
        return self.request({"op": "run", "steps": steps}, values)[1].get("steps")


class Session(Requests, Protocol):
    """One runner, for one submission. Use it in one thread, in a `with` block, which closes it."""

    def forgive(self, seconds: float) -> None:
        """Leave these seconds out of the wall clock, because the process had no request from us in them."""

    @property
    def alive(self) -> bool:
        """Whether the process is still running."""

    @property
    def environment(self) -> Message:
        """The configuration of JAX in the runner, as it reported before loading a submission."""

    @property
    def spent(self) -> Spent:
        """What the process has used since the submission began."""

    def seal_output(self) -> None:
        """Drop all output from now on, because hidden inputs come next.

        If the output so far is too large, the next request raises the fault.
        """

    def output(self) -> Output: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class Sandbox(Protocol):
    """Opens sessions. `walls` names the walls around each of them."""

    @property
    def walls(self) -> tuple[str, ...]: ...

    def warm(self, spec: RunnerSpec) -> None:
        """Start runners of this kind, because a submission may come soon. Returns at once."""

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> Session:
        """Start a runner and wait until JAX is up in it. It has not loaded a submission yet.

        Raises:
          WallMissing, GraderFault: the runner could not be started.
          Cancelled: `stop` was set.
        """

    def verifier(
        self,
        devices: int,
        limits: Limits,
        stop: Stop = NEVER,
        *,
        alone: bool = False,
        background: bool = False,
        fresh: bool = False,
    ) -> AbstractContextManager[Session]:
        """Lend a verifier for one program. The first request that it has to work for raises the errors of `open`, and
        its time counts from there.

        Args:
          alone: lend a new verifier, which will serve no other program.
          background: run it at the lowest priority, because nobody waits for it.
          fresh: compile and run the program even if that was done before, to measure what it takes.
        """
