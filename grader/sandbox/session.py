"""Control one runner from outside: one loop handles its frames, its output, its clocks and its memory."""

import logging
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Self

from grader.core import wire
from grader.core.context import NEVER, Stop
from grader.core.errors import Cancelled, GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.core.reasons import Reporter, reported
from grader.core.wire import Frame, Message, Values
from grader.package.package import Limits
from grader.sandbox.capture import Capture
from grader.sandbox.cgroup import Cgroups, Group
from grader.sandbox.faults import (
    MEMORY_MESSAGE,
    RUNNER_GAVE_UP,
    clean_detail,
    divergence_of,
    fault_of_cpu_time,
    fault_of_exit,
    fault_of_wall_time,
    is_stuck,
    last_words,
)
from grader.sandbox.protocol import Output, Requests
from grader.sandbox.remedies import TO_FIX_IT
from grader.sandbox.task_limits import TASKS
from grader.sandbox.usage import Idleness, Usage, delays_of, usage_of
from grader.sandbox.users import others_with
from grader.sandbox.walls import remedy_for
from grader.sandbox.zygote import Fork
from grader.verdicts.package_study import Spent

log = logging.getLogger("meshgrade.session")

# The time limit of our own requests, such as the start of the backend.
ANSWER_LIMIT_S = 60.0
# The time limits of a warm-up. The wall clock leaves out the time that other processes on a busy machine took.
WARM_UP_S, WARM_UP_CPU_S = 60.0, 120.0
# A warmed fork must be idle while it waits. It is measured over seconds, because a clock tick is 10 ms.
_REST_LOOK_S, _REST_SHARE = 5.0, 0.2
_TICK_S = 0.02
_CHUNK = 1 << 16
# After less output than this, wait a moment for more; the pipe does not fill meanwhile.
_SMALL_BYTES, _GATHER_S = 1 << 12, 0.001
_MAX_TEXT = 2000
# The largest frame of our own, which may contain compiled programs.
_MAX_OWN_BYTES = 1 << 30
# The warm-ups of the shipped problems compile 2 MB.
_MAX_WARM_BYTES = 128 << 20
_CLOSED_BY_ITSELF_S = 2.0
_LOOK_S, _STUCK_S = 0.25, 2.0
# JAX with 8 devices has about 80 threads whose stacks count as data, 0.9 GiB in all, though hardly any is touched.
_DATA_SLACK_BYTES = 2 << 30
# One thread's stack and its guard pages. Measured: 4.4 GB of data in 525 threads, for 256 devices.
_THREAD_BYTES = 9 << 20
# Address space for libraries and read-only maps, bounded because the page tables of a huge map take memory, too.
_ADDRESS_SLACK_BYTES = 16 << 30
_GROUP_SLACK_MB = 256


class ForkSession(Requests):
    """Talks to a fork over its channel, and watches its time, memory and output.

    Life cycle: `wait_until_ready`; `ask`, to warm it; `begin`, after which time and memory count for the submission;
    `request`; `close`. Every fault kills the fork. Only one thread at a time may use it.
    """

    def __init__(self, fork: Fork, cgroups: Cgroups | None = None, reporter: Reporter = "runner") -> None:
        self._fork = fork
        self._reporter = reporter
        self._cgroups = cgroups
        self._limits = Limits()
        self._stop: Stop = NEVER
        self._inbox = bytearray()
        self._outbox = memoryview(b"")
        self._capture = Capture()
        self._at_begin = self._most = Usage(0.0, 0)
        self._wall_at_begin = self._looked_at = 0.0
        self._delays_at_begin: dict[int, float] = {}
        self._idleness: Idleness | None = None
        self.environment: Message = {}
        self.warmed = False
        self.when_closed: Callable[[], None] | None = None
        self._group: Group | None = None
        self._fault: SubmissionFault | None = None
        # Replies that nobody has asked for yet.
        self._unread = 0
        self._rest: tuple[float, float] | None = None
        self._selector = selectors.DefaultSelector()
        fork.channel.setblocking(False)
        self._selector.register(fork.channel, selectors.EVENT_READ)
        for stream in (fork.stdout, fork.stderr):
            os.set_blocking(stream, False)
            self._selector.register(stream, selectors.EVENT_READ)

    @property
    def alive(self) -> bool:
        return not self._fork.ended.is_set() and not self._fork.killed

    @property
    def pid(self) -> int:
        return self._fork.pid

    @property
    def _tasks(self) -> int:
        return TASKS + self._fork.further_threads

    def wait_until_ready(self, stop: Stop = NEVER) -> Message:
        """Wait for the first frame, which says that JAX is up, and return it.

        Raises:
          WallMissing, GraderFault: the runner did not start.
        """
        hello, _ = self._of_our_own(stop)
        return hello

    def ask(self, message: Message, values: Values, stop: Stop = NEVER) -> Frame:
        """Send our own request, before there is a submission, so an error is ours."""
        self._outbox = memoryview(wire.pack(message, values))
        return self._of_our_own(stop)

    def warm(self, message: Message, values: Values, limits: Limits) -> Frame:
        """Run a package's warmup.py. This is the author's code, so the package's limits apply from now on.

        Raises:
          GraderFault: the warm-up exceeded them, failed, or ended its process.
        """
        clocks = {"time_s": WARM_UP_CPU_S, "wall_s": WARM_UP_S}
        self.begin(limits.model_copy(update=clocks), NEVER)
        self._outbox = memoryview(wire.pack(message, values))
        # From now on, replies may come from the author's code, which must not be able to report on the walls.
        self.warmed = True
        try:
            message, found = self._read_frame(self._check_limits, _MAX_WARM_BYTES)
        except SubmissionFault as fault:
            output = self._capture.tail().strip()[-_MAX_TEXT:]
            raise GraderFault(f"the warm-up was stopped, {fault.reason}: {fault} {output}") from None
        if message.get("ok") is not True:
            raise GraderFault(f"the warm-up failed: {str(message.get('message'))[:_MAX_TEXT]}")
        self._rest = (time.monotonic(), usage_of(self._fork.pid).cpu_s)
        return message, found

    def restlessness(self) -> str | None:
        """Describe what a warmed fork does while it should only wait; None if it is idle."""
        if self._rest is None or not self.alive:
            return None
        usage, (since, cpu_s) = usage_of(self._fork.pid), self._rest
        if usage.resident_bytes > self._limits.memory_mb << 20:
            return f"it holds more than {self._limits.memory_mb} MiB"
        passed = time.monotonic() - since
        if passed > _REST_LOOK_S:
            self._rest = (time.monotonic(), usage.cpu_s)
            if usage.cpu_s - cpu_s > _REST_SHARE * passed:
                return "it keeps computing"
        return None

    def begin(self, limits: Limits, stop: Stop) -> None:
        """Assign the fork to one submission, with its limits, and drop earlier output.

        Raises:
          LostRunner: the fork died while it waited.
        """
        if self._cgroups is not None:
            try:
                # Set the limit above the watchdog's, whose message is clearer.
                memory_bytes = (limits.memory_mb + _GROUP_SLACK_MB) << 20
                self._group = self._cgroups.enclose(self._fork.pid, memory_bytes, self._tasks)
            except OSError as error:
                raise LostRunner(f"the runner could not be put into a cgroup: {error}") from error
        slack_bytes = _DATA_SLACK_BYTES + self._fork.further_threads * _THREAD_BYTES
        data_bytes = (limits.memory_mb << 20) + slack_bytes
        request = {"op": "begin", "data_bytes": data_bytes, "address_bytes": data_bytes + _ADDRESS_SLACK_BYTES}
        self.ask(request, {}, stop)
        self.charge(limits, stop)

    def charge(self, limits: Limits, stop: Stop) -> None:
        """Count time and memory from now on, and drop earlier output."""
        self._capture = Capture()
        self._limits, self._stop = limits, stop
        self._at_begin = self._most = usage_of(self._fork.pid)
        self._wall_at_begin = time.monotonic()
        self._delays_at_begin = delays_of(self._fork.pid)
        self._idleness = None

    def forgive(self, seconds: float) -> None:
        """See `Session.forgive`."""
        self._wall_at_begin += seconds

    def request(self, message: Message, values: Values | None = None) -> Frame:
        """Send one request and return the reply. See `Session` for what it raises."""
        self._send(((message, values or {}),))
        return self._reply()

    def request_each(self, frames: Sequence[Frame]) -> Iterator[Frame | SubmissionFault]:
        """Send all requests at once, and yield the replies. See `Requests`."""
        self._send(frames)
        for _ in frames:
            try:
                yield self._reply()
            except SubmissionFault as fault:
                yield fault

    def _send(self, frames: Sequence[Frame]) -> None:
        if self._unread and self._fault is None:
            raise GraderFault(f"{self._unread} replies to earlier requests have not been read")
        self._unread = len(frames)
        self._outbox = memoryview(b"".join(wire.pack(message, values) for message, values in frames))

    def _reply(self) -> Frame:
        self._unread -= 1
        if self._fault is not None:
            # We ended the process ourselves, so don't report that it was killed from outside.
            raise self._fault
        reply, outputs = self._read_frame(self._check_limits, self._limits.output_mb << 20)
        if reply.get("ok") is True:
            return reply, outputs
        match reply:
            case {"ok": False, "reason": str(name), "message": str(text), "detail": dict(detail)} if (
                reason := reported(name, by=self._reporter)
            ) is not None:
                raise SubmissionFault(reason, text[:_MAX_TEXT], **clean_detail(detail))
        raise self._tampered("a reply of unknown form")

    @property
    def spent(self) -> Spent:
        self._note_usage()
        cpu_s, wall_s = self._most.cpu_s - self._at_begin.cpu_s, time.monotonic() - self._wall_at_begin
        return Spent(cpu_s, wall_s, self._most.resident_bytes)

    def seal_output(self) -> None:
        with suppress(SubmissionFault):
            # The next request raises this fault again.
            self._pump(0)
        self._capture.seal()

    def output(self) -> Output:
        return self._capture.output()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the fork and release it."""
        self._selector.close()
        self._fork.close()
        if self._group is not None:
            self._fork.ended.wait(_CLOSED_BY_ITSELF_S)
            self._group.remove()
        if self.when_closed is not None:
            self.when_closed()
            self.when_closed = None

    def _of_our_own(self, stop: Stop) -> Frame:
        started = time.monotonic()

        def check() -> None:
            self._check_stop(stop)
            if time.monotonic() - started > ANSWER_LIMIT_S:
                self._fork.kill()
                raise GraderFault(
                    f"the runner did not respond within {ANSWER_LIMIT_S:.0f} s; the machine may be too busy"
                )

        try:
            message, values = self._read_frame(check, _MAX_OWN_BYTES)
        except SubmissionFault as fault:
            output = self._capture.tail().strip()[-_MAX_TEXT:]
            remedy = remedy_for(output)
            raise GraderFault(f"the runner did not start: {fault} {output}{TO_FIX_IT}{remedy}") from None
        if "wall" in message and not self.warmed:
            wall, found = str(message["wall"]), str(message["found"])
            raise WallMissing(wall, found, remedy_for(f"{wall}: {found}"))
        if message.get("ok") is not True:
            raise GraderFault(f"the runner reports {message.get('reason')}: {message.get('message')}")
        return message, values

    def _read_frame(self, check: Callable[[], None], max_payload_bytes: int) -> Frame:
        try:
            manifest_bytes, payload_bytes = wire.unpack_header(
                self._take(wire.HEADER.size, check), max_payload_bytes=max_payload_bytes
            )
            message = wire.unpack_manifest(self._take(manifest_bytes, check), payload_bytes=payload_bytes)
            return message, wire.unpack_values(message, self._take(payload_bytes, check))
        except wire.TooLarge as error:
            raise self._kill_for(SubmissionFault("output_limit", f"What you return is too large: {error}.")) from None
        except wire.BadFrame as error:
            raise self._tampered(str(error)) from None

    def _take(self, size: int, check: Callable[[], None]) -> bytes:
        while len(self._inbox) < size:
            check()
            if not self._pump(_TICK_S):
                raise self._ended()
        taken = bytes(self._inbox[:size])
        del self._inbox[:size]
        return taken

    def _pump(self, timeout_s: float) -> bool:
        """Read and write what is possible now. Return False once the runner has closed its end and all is read."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outbox else 0)
        self._selector.modify(self._fork.channel, events)
        alive = True
        for key, ready in self._selector.select(timeout_s):
            if key.fileobj is self._fork.channel:
                if ready & selectors.EVENT_WRITE:
                    self._write()
                if ready & selectors.EVENT_READ:
                    alive = self._read()
            else:
                self._read_output(key.fd)
        return alive

    def _write(self) -> None:
        try:
            self._outbox = self._outbox[self._fork.channel.send(self._outbox) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._outbox = memoryview(b"")

    def _read(self) -> bool:
        try:
            received = self._fork.channel.recv(_CHUNK)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        self._inbox += received
        return bool(received)

    def _read_output(self, descriptor: int) -> None:
        try:
            text = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not text:
            self._selector.unregister(descriptor)
        self._capture.add("stdout" if descriptor == self._fork.stdout else "stderr", text)
        if self._capture.is_flood:
            message = (
                f"Your code printed over {Capture.FLOOD_BYTES >> 20} MiB. "
                "Look for a loop that prints without end, or for prints of whole arrays."
            )
            raise self._kill_for(SubmissionFault("output_limit", message))
        if 0 < len(text) < _SMALL_BYTES:
            # Otherwise a loop of small prints keeps a core busy here, too, because each of them wakes us.
            time.sleep(_GATHER_S)

    def _check_limits(self) -> None:
        self._check_stop(self._stop)
        self._check_collectives()
        usage, limits = self._note_usage(), self._limits
        if usage.resident_bytes > limits.memory_mb << 20:
            message = MEMORY_MESSAGE.format(memory_mb=limits.memory_mb)
            raise self._kill_for(SubmissionFault("memory_limit", message))
        if usage.threads > self._tasks:
            # If the kernel counts the tasks of all forks together, it lets one of them have more than its share.
            message = f"Your code was stopped when it had more than {self._tasks} threads. Start fewer of them."
            raise self._kill_for(SubmissionFault("killed", message))
        cpu_s = usage.cpu_s - self._at_begin.cpu_s
        if cpu_s > limits.time_s:
            raise self._kill_for(fault_of_cpu_time(limits.time_s, self._capture))
        if self._waited_s() > limits.wall_s:
            raise self._kill_for(fault_of_wall_time(limits.wall_s, cpu_s, self._capture))

    def _note_usage(self) -> Usage:
        self._most = (usage := usage_of(self._fork.pid)).at_least(self._most)
        return usage

    def _check_collectives(self) -> None:
        """End a program whose devices wait for one another forever, a few seconds after XLA warns about it.

        XLA gives up after a fixed time, which a slow device on a busy machine can exceed. A device that still computes,
        or that waits for a core, is not stuck.
        """
        if time.monotonic() - self._looked_at < _LOOK_S:
            return
        self._looked_at = time.monotonic()
        warned = is_stuck(self._capture.tail())
        if not warned:
            self._idleness = None
            return
        self._idleness = self._idleness or Idleness(self._fork.pid)
        if self._idleness.seconds() > _STUCK_S:
            raise self._kill_for(divergence_of(self._capture.tail()))

    def _waited_s(self) -> float:
        """Wall-clock seconds since the submission began, without the time that other processes on the machine took."""
        passed = time.monotonic() - self._wall_at_begin
        if passed <= self._limits.wall_s:
            return passed
        now, before = delays_of(self._fork.pid), self._delays_at_begin
        return passed - max((delay - before.get(thread, 0.0) for thread, delay in now.items()), default=0.0)

    def _check_stop(self, stop: Stop) -> None:
        if stop.is_set():
            self._fork.kill()
            raise Cancelled("grading was stopped")

    def _kill_for(self, fault: SubmissionFault) -> SubmissionFault:
        """Kill the fork because of this fault. Every later request raises it again."""
        self._fork.kill()
        self._fault = fault
        return fault

    def _tampered(self, what: str) -> SubmissionFault:
        message = f"Something other than the runner wrote to the result channel: {what}."
        return self._kill_for(SubmissionFault("error", message))

    def _ended(self) -> SubmissionFault | LostRunner:
        """Find out what ended the process, after the channel closed without an answer."""
        deadline = time.monotonic() + _CLOSED_BY_ITSELF_S
        while not self._fork.ended.wait(_TICK_S) and time.monotonic() < deadline:
            self._pump_output()
        if not self._fork.ended.is_set():
            message = "Your code closed the result channel, so it cannot return a result."
            return self._kill_for(SubmissionFault("killed", message))
        self._pump_output()
        status = self._fork.status
        if status == -signal.SIGKILL and self._group is not None and self._group.ran_out_of_memory:
            return SubmissionFault("memory_limit", MEMORY_MESSAGE.format(memory_mb=self._limits.memory_mb))
        if status is None or status == -signal.SIGKILL:
            # The walls do not let a submission send this signal, even to itself, or set the limit that sends it:
            # another process sent it.
            return LostRunner("the process that ran the submission was killed from outside")
        uid = self._fork.uid
        if uid is not None and (others := others_with(uid, self._fork.pid)):
            # The limit on threads counts per user, and no submission has processes, so another process of the user may
            # have used it up.
            return LostRunner(f"the user {uid} of the process that ran the submission is shared with {others}")
        if status == RUNNER_GAVE_UP:
            log.warning("a runner failed in the process of a submission: %s", last_words(self._capture.tail()))
        return fault_of_exit(status, self._capture.tail())

    def _pump_output(self) -> None:
        for key, _ in self._selector.select(0):
            if key.fileobj is not self._fork.channel:
                self._read_output(key.fd)
