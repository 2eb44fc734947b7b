"""One runner process seen from outside: its frames, its output, its clocks and its memory, in one loop."""

import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from typing import Any, Self

from grader.errors import Cancelled, GraderFault, SubmissionFault, WallMissing
from grader.package.package import Limits
from grader.runner import wire
from grader.sandbox.capture import Capture
from grader.sandbox.remedies import remedy_for
from grader.sandbox.usage import descendants, usage_of_tree

START_LIMIT_S = 120.0
_TICK_S = 0.02
_CHUNK = 1 << 16
_MAX_TEXT = 2000
_MAX_FRAMES = 12


class ProcessSession:
    """Talks to the runner on a socket, and watches the process tree below `process`.

    Life: made when the process has been started; `wait_until_ready` once; then requests; then closed. Every fault
    kills the tree, so that no later request can be answered.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, limits: Limits, stop: threading.Event | None
    ) -> None:
        self._process = process
        self._channel = channel
        self._limits = limits
        self._stop = stop
        self._inbox = bytearray()
        self._outbox = memoryview(b"")
        self._capture = Capture()
        self._cpu_at_ready = 0.0
        self._wall_at_ready = 0.0
        self._selector = selectors.DefaultSelector()
        channel.setblocking(False)
        self._selector.register(channel, selectors.EVENT_READ)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    def wait_until_ready(self) -> dict[str, Any]:
        """Wait for the first frame, which says that JAX is up, and return it. From here on time is the submission's.

        Raises:
          WallMissing, GraderFault: the runner did not come up.
        """
        started = time.monotonic()
        try:
            hello, _ = self._read_frame(lambda: self._check_start(started))
        except SubmissionFault as fault:
            # No submission has been near this process yet: whatever went wrong is ours.
            said = self.output().stderr.strip()
            if said.startswith("bwrap:"):
                raise WallMissing("namespaces", said, remedy_for(said)) from None
            raise GraderFault(f"the runner did not start: {fault} {said}\nTo mend it: {remedy_for(said)}") from None
        self._capture.clear()
        self._cpu_at_ready = usage_of_tree(self._process.pid).cpu_s
        self._wall_at_ready = time.monotonic()
        return hello

    def request(
        self, message: dict[str, Any], values: dict[str, object] | None = None
    ) -> tuple[dict[str, Any], dict[str, object]]:
        """Send one request and return the reply. See `Session` for what it raises."""
        self._outbox = memoryview(wire.pack(message, values))
        reply, outputs = self._read_frame(self._check_limits)
        if reply.get("ok") is True:
            return reply, outputs
        match reply:
            case {"ok": False, "reason": str(reason), "message": str(text), "detail": dict(detail)} if reason in (
                "syntax_error",
                "missing_entry",
                "error",
                "memory_limit",
                "output_limit",
            ):
                raise SubmissionFault(reason, text[:_MAX_TEXT], **_clean(detail))  # type: ignore[arg-type]
        raise self._tampered("a reply of an unknown form")

    def seal_output(self) -> None:
        self._pump(0)
        self._capture.seal()

    def output(self) -> Any:
        return self._capture.output()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._selector.close()
        self._channel.close()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def kill(self) -> int:
        """End every process of the sandbox and return the exit status of its first one."""
        if self._process.poll() is None:
            # The children first: the second process is the init of the namespace, and takes everything in it along.
            for pid in reversed(descendants(self._process.pid)):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        return self._process.wait()

    def _read_frame(self, check: Any) -> tuple[dict[str, Any], dict[str, object]]:
        try:
            manifest_bytes, payload_bytes = wire.unpack_header(
                self._take(wire.HEADER.size, check), max_payload_bytes=self._limits.output_mb << 20
            )
            message = wire.unpack_manifest(self._take(manifest_bytes, check), payload_bytes=payload_bytes)
            return message, wire.unpack_values(message, self._take(payload_bytes, check))
        except wire.TooLarge as error:
            self.kill()
            raise SubmissionFault("output_limit", f"What you return is too large: {error}.") from None
        except wire.BadFrame as error:
            raise self._tampered(str(error)) from None

    def _take(self, size: int, check: Any) -> bytes:
        while len(self._inbox) < size:
            check()
            if not self._pump(_TICK_S):
                raise self._ended()
        taken = bytes(self._inbox[:size])
        del self._inbox[:size]
        return taken

    def _pump(self, timeout_s: float) -> bool:
        """Move what can be moved; False when the runner has closed its end and nothing is left to read."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outbox else 0)
        self._selector.modify(self._channel, events)
        alive = True
        for key, ready in self._selector.select(timeout_s):
            if key.fileobj is self._channel:
                if ready & selectors.EVENT_WRITE:
                    self._write()
                if ready & selectors.EVENT_READ:
                    alive = self._read()
            else:
                self._read_output(key.fileobj)
        return alive

    def _write(self) -> None:
        try:
            self._outbox = self._outbox[self._channel.send(self._outbox) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._outbox = memoryview(b"")

    def _read(self) -> bool:
        try:
            received = self._channel.recv(_CHUNK)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        self._inbox += received
        return bool(received)

    def _read_output(self, stream: Any) -> None:
        try:
            text = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not text:
            self._selector.unregister(stream)
        self._capture.add("stdout" if stream is self._process.stdout else "stderr", text)
        if self._capture.is_flood:
            self.kill()
            raise SubmissionFault(
                "output_limit", f"Your code printed over {Capture.FLOOD_BYTES >> 20} MiB. Print less."
            )

    def _check_start(self, started: float) -> None:
        self._check_stop()
        if time.monotonic() - started > START_LIMIT_S:
            self.kill()
            raise GraderFault(f"the runner was not ready after {START_LIMIT_S:.0f} s")

    def _check_limits(self) -> None:
        self._check_stop()
        usage = usage_of_tree(self._process.pid)
        limits = self._limits
        if usage.resident_bytes > limits.memory_mb << 20:
            self.kill()
            raise SubmissionFault("memory_limit", _memory_message(limits.memory_mb))
        if usage.cpu_s - self._cpu_at_ready > limits.time_s:
            self.kill()
            raise SubmissionFault(
                "time_limit",
                f"Your code was stopped after {limits.time_s:g} s of CPU time. "
                "Look for a loop that does not end, or for much more work than the problem needs.",
            )
        if time.monotonic() - self._wall_at_ready > limits.wall_s:
            self.kill()
            raise SubmissionFault(
                "time_limit",
                f"Your code was stopped after {limits.wall_s:g} s, most of which it spent waiting: "
                "look for a sleep, or for something that it waits for in vain.",
            )

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop.is_set():
            self.kill()
            raise Cancelled("grading was stopped")

    def _tampered(self, what: str) -> SubmissionFault:
        self.kill()
        return SubmissionFault("error", f"Something other than the runner wrote on the result channel: {what}.")

    def _ended(self) -> SubmissionFault:
        """The process is gone and has not answered: find out what ended it."""
        deadline = time.monotonic() + 2
        while self._process.poll() is None and time.monotonic() < deadline:
            self._pump_output()
        closed_by_itself = self._process.poll() is None
        status = self.kill()
        self._pump_output()
        if closed_by_itself:
            return SubmissionFault("killed", "Your code closed the result channel, so no result can come back.")
        return _fault_of_exit(status, self._capture.tail())

    def _pump_output(self) -> None:
        for key, _ in self._selector.select(_TICK_S):
            if key.fileobj is not self._channel:
                self._read_output(key.fileobj)


def _clean(detail: dict[str, Any]) -> dict[str, object]:
    """Keep of a fault's detail what has the form that our runner gives it; the reply may have been forged."""
    kept: dict[str, object] = {}
    for name in ("line", "column"):
        if type(detail.get(name)) is int and 0 <= detail[name] < 2**31:
            kept[name] = detail[name]
    if isinstance(detail.get("type"), str):
        kept["type"] = detail["type"][:80]
    if isinstance(detail.get("traceback"), list):
        kept["traceback"] = [frame for item in detail["traceback"][:_MAX_FRAMES] if (frame := _clean_frame(item))]
    return kept


def _clean_frame(frame: object) -> dict[str, object] | None:
    match frame:
        case {"line": int(line), "function": str(function), "text": str(text)}:
            return {"line": line, "function": function[:80], "text": text[:200]}
    return None


def _memory_message(memory_mb: int) -> str:
    return (
        f"Your code was stopped when it held more than {memory_mb:,} MiB of memory. "
        "Look for an array with one dimension too many, or for a broadcast of two large ones."
    )


def _fault_of_exit(status: int, stderr_tail: str) -> SubmissionFault:
    """bwrap reports a process that a signal ended as 128 plus the signal's number."""
    number = -status if status < 0 else status - 128
    if number == signal.SIGABRT and ("rendezvous" in stderr_tail.lower() or "collective" in stderr_tail.lower()):
        return SubmissionFault(
            "divergent_collective", "Not all devices reached the same collective, so the others waited in vain."
        )
    if number == signal.SIGXCPU:
        return SubmissionFault("time_limit", "Your code used up the CPU time that a process may have.")
    if number > 0 and number in set(signal.Signals):
        name = signal.Signals(number).name
        hint = " Recursion that is too deep for C ends like this." if number == signal.SIGSEGV else ""
        return SubmissionFault("killed", f"The process that ran your code was ended by {name}.{hint}")
    return SubmissionFault(
        "killed",
        f"The process that ran your code ended itself (exit code {status}) before it returned a result. "
        "Return from the function instead of calling `os._exit`.",
    )
