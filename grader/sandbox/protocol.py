"""The interface between the judge and the process that runs submitted code."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from grader.context import NEVER, Stop
from grader.package.package import Limits
from grader.study import Spent
from grader.wire import Argument, ArrayForm, Frame, Message, Values


@dataclass(frozen=True, slots=True)
class Warmup:
    """A package's warmup.py: public code that compiles the operations of its shapes. `version` is the package's."""

    version: str
    source: str


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """The kind of runner: `devices` is the number of host devices that JAX shows in it.

    A verifier is a runner that takes programs instead of submissions; one of program `tpu` compiles them for TPUs. Its
    time is that of `share` submissions.
    """

    devices: int
    limits: Limits
    warmup: Warmup | None = None
    program: Literal["serve", "verify", "tpu"] = "serve"
    background: bool = False
    own: bool = False
    share: int = 1


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a runner as text. `truncated` is true if it printed more than is kept."""

    stdout: str
    stderr: str
    truncated: bool


class Requests(Protocol):
    """The requests to a runner or a verifier. Every session inherits them and sends the frames.

    All of them raise SubmissionFault for anything that the submission did or failed to do in time, GraderFault for our
    own faults, and Cancelled if the caller's event was set. A reply comes from a process that may have run a
    submission, so the caller checks its form.
    """

    def request(self, message: Message, values: Values | None = None) -> Frame:
        """Send one frame and return the reply's."""
        raise NotImplementedError

    def load(self, source: str, entry: str) -> None:
        """Run a source as a module. `entry` names the function that it must define."""
        self.request({"op": "load", "source": source, "entry": entry})

    def execute(self, source: str) -> None:
        """Run a source as a script. What it prints is in the session's output."""
        self.request({"op": "execute", "source": source})

    def call(self, args: Sequence[object]) -> dict[str, object]:
        """Call the entry point. Returns its `result` and what the spies `observed`."""
        return self.request({"op": "call"}, {"args": list(args)})[1]

    def cases(self, key: str | None) -> object:
        """Ask a loaded cases.py for its cases: the public ones without a key, or the ones drawn from the key."""
        return self.request({"op": "cases", "key": key})[1].get("cases")

    def export(
        self,
        mesh: dict[str, int],
        args: Sequence[Argument],
        *,
        init: str | None,
        export_init: bool,
        seeds: Sequence[object],
        names_mesh: bool = False,
    ) -> dict[str, object]:
        """Export the entry point for one mesh; the arguments are those of `grader.runner.export.export_program`."""
        message = {"op": "export", "mesh": mesh, "args": list(args), "init": init, "export_init": export_init}
        return self.request({**message, "seeds": list(seeds), "names_mesh": names_mesh})[1]

    def states(self, number: int, seeds: Sequence[object]) -> object:
        """The states that `init` makes of more seeds, for the mesh of an export; `number` counts exports from 0."""
        return self.request({"op": "states", "number": number, "seeds": list(seeds)})[1].get("states")

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
        """Let a verifier compile an exported program; the arguments are those of `grader.verifier.load.load`.

        Returns its `facts`, None where it calls native `kernels` and the verifier is not `alone`; and if that is
        requested, its `listing`, and that of what was exported, `written`.
        """
        message = {"op": "compile", "mesh": mesh, "inputs": list(inputs), "state": state, "alone": alone}
        return self.request({**message, "listing": listing}, {"artifact": artifact})[0]

    def compile_for(
        self, topology: str, mesh: dict[str, int], artifact: object, inputs: Sequence[ArrayForm], *, state: int
    ) -> object:
        """Let a verifier of program `tpu` compile an exported program for a slice. Returns `TPUFacts` as JSON."""
        message = {"op": "compile_for", "topology": topology, "mesh": mesh, "inputs": list(inputs), "state": state}
        return self.request(message, {"artifact": artifact})[0].get("program")

    def run(self, steps: int, state: Sequence[object], inputs: Sequence[object]) -> object:
        """Let a verifier run the program that it compiled last. Returns the result of each step."""
        values: dict[str, object] = {"state": list(state), "inputs": list(inputs)}
        return self.request({"op": "run", "steps": steps}, values)[1].get("steps")


class Session(Requests, Protocol):
    """One runner, for one submission. Used by one thread, closed once, by `with`."""

    def forgive(self, seconds: float) -> None:
        """Do not count time in which we had no request towards its wall clock."""

    @property
    def alive(self) -> bool:
        """Whether the process has neither ended nor been ended."""

    @property
    def environment(self) -> Message:
        """The configuration of JAX in the runner, as reported before it loaded a submission."""

    @property
    def spent(self) -> Spent:
        """What the process used since the submission began."""

    def seal_output(self) -> None:
        """Drop all output from now on, because hidden inputs come next.

        If what was printed before is too much, the next request raises it.
        """

    def output(self) -> Output: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class Sandbox(Protocol):
    """Makes sessions. `walls` names the layers around each of them."""

    @property
    def walls(self) -> tuple[str, ...]: ...

    def warm(self, spec: RunnerSpec) -> None:
        """Prepare runners of this kind, because a submission may come soon. Returns at once."""

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> Session:
        """Start a runner and wait until JAX is up in it. It has not loaded a submission yet.

        Raises:
          WallMissing, GraderFault: it could not be started.
          Cancelled: `stop` was set.
        """

    def verifier(
        self, devices: int, limits: Limits, stop: Stop = NEVER, *, alone: bool = False, background: bool = False
    ) -> AbstractContextManager[Session]:
        """Lend a verifier for one program, whose time counts from now on. Raises the same errors as `open`.

        Args:
          alone: a new one that will serve no other program.
          background: nobody waits for it.
        """
