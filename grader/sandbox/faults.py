"""Turn the end of a runner, or a fault that it reports, into a fault of the submission."""

import re
import signal
from pathlib import Path

from grader.core.errors import SubmissionFault
from grader.core.reasons import REASONS
from grader.core.text import in_bytes
from grader.core.wire import Message
from grader.sandbox.capture import Capture

MEMORY_MESSAGE = (
    "Your code was stopped when it held more than {memory_mb:,} MiB of memory. "
    "Look for an array with one dimension too many, or for a broadcast of two large ones."
)
_MAX_FRAMES = 12
# What is kept of an error inside XLA, in characters.
_LONGEST_WORDS = 4_000
_WAITED_FOR = re.compile(r"(?:waiting|timeout) for `([a-z][a-z -]{2,30}?) Rendezvous")
_ARRIVED = re.compile(r"Expected (\d{1,3}) threads to join the rendezvous, but only (\d{1,3}) of them")
# The exit code of a fork that failed outside the submission; see grader/forks/zygote.py.
RUNNER_GAVE_UP = 70
_MAX_OWN_FRAMES = 6
_GRADER = Path(__file__).resolve().parents[1]
_OWN_FRAME = re.compile(
    r'^  File "/[\w./-]{0,200}?grader/'
    r"((?:(?:confined|forks|runner|verifier|program)/[a-z_]{1,30}|core/(?:item_sizes|wire))\.py)"
    r'", line (\d{1,4}), in \w{1,60}$',
    re.MULTILINE,
)
_KNOWN_ERROR = re.compile(
    r"^(MemoryError|BrokenPipeError|EOFError|ImportError|OSError: \[Errno \d{1,3}\]"
    r"|RuntimeError: can't start new thread|grader\.core\.wire\.BadFrame)",
    re.MULTILINE,
)
_LACKED = {
    "[Errno 24]": "no file descriptor was left",
    "can't start new thread": "no thread could be started",
    "MemoryError": "no memory was left",
    "BrokenPipeError": "the result channel was closed",
}


def fault_of_cpu_time(limit_s: float, capture: Capture) -> SubmissionFault:
    """The fault of a submission that used up its CPU time, which other processes on the machine do not add to."""
    after = f"after {limit_s:g} s of CPU time"
    if capture.is_endless:
        return _endless_output(after, capture)
    while_printing = ", while it was still printing" if capture.is_growing else ""
    return SubmissionFault(
        "time_limit",
        f"Your code was stopped {after}{while_printing}. "
        "Look for a loop that does not end, or for much more work than the problem requires.",
    )


def fault_of_wall_time(limit_s: float, cpu_s: float, capture: Capture) -> SubmissionFault:
    """The fault of a submission that ran into the backstop, for which a busy machine can be the reason.

    Args:
      cpu_s: the CPU time that it had used by then.
    """
    after = f"after {limit_s:g} s"
    if capture.is_endless:
        return _endless_output(after, capture)
    if cpu_s < limit_s / 2:
        how = ", most of which it spent waiting: look for a sleep, or for a wait that never ends."
    else:
        how = f", of which it computed for {cpu_s:.2g} s: look for a loop that does not end."
    printing = " It was still printing." if capture.is_growing else ""
    busy = " If you find nothing, the machine may have been too busy: try again."
    return SubmissionFault("time_limit", f"Your code was stopped {after}{how}{printing}{busy}")


def _endless_output(after: str, capture: Capture) -> SubmissionFault:
    return SubmissionFault(
        "output_limit",
        f"Your code was stopped {after}, while it was still printing: it had printed {in_bytes(capture.seen_bytes)}. "
        "Look for a loop that prints without end.",
    )


def fault_of_exit(status: int, stderr_tail: str) -> SubmissionFault:
    """The fault of a process that ended before it answered. `status` is negative for a signal."""
    if status == -signal.SIGABRT and ("rendezvous" in stderr_tail.lower() or "collective" in stderr_tail.lower()):
        return divergence_of(stderr_tail)
    if status == -signal.SIGXCPU:
        return SubmissionFault("time_limit", "Your code used up its CPU time.")
    if status == -signal.SIGSYS:
        message = "Your code made a system call that no Python program makes, and was stopped."
        return SubmissionFault("killed", message, ended_by="SIGSYS")
    if status < 0:
        name = signal.Signals(-status).name
        hint = " Recursion that is too deep for C also ends like this." if status == -signal.SIGSEGV else ""
        return SubmissionFault("killed", f"The process that ran your code was ended by {name}.{hint}", ended_by=name)
    if status == RUNNER_GAVE_UP:
        lacked = next((what for words, what in _LACKED.items() if words in last_words(stderr_tail)), None)
        cause = f" because {lacked}" if lacked else ", and its output does not say why"
        return SubmissionFault(
            "killed",
            f"The grader's runner failed in your process{cause}. It worked until your code was loaded.",
        )
    return SubmissionFault(
        "killed",
        f"The process that ran your code ended itself (exit code {status}) before it returned a result. "
        "Return from the function instead of calling `os._exit`.",
        ended_by=f"exit code {status}",
    )


def last_words(stderr_tail: str) -> str:
    """The last output of a failed runner, for operators: file names and lines of our own code, and types of errors.

    Everything else is dropped: the submission writes to the same stream, and a log must not contain its output.
    """
    found = _OWN_FRAME.findall(stderr_tail)
    frames = [f"{file}:{line}" for file, line in found if (_GRADER / file).is_file()]
    errors = _KNOWN_ERROR.findall(stderr_tail)
    return " < ".join([*errors[-1:], *reversed(frames[-_MAX_OWN_FRAMES:])]) or "nothing that a runner prints"


def fault_of_program(fault: SubmissionFault, activity: str) -> SubmissionFault:
    """Reword the fault of a verifier, which runs compiled programs but none of the submission's Python.

    Args:
      activity: what the verifier was doing, such as "your compiled program ran public-1 on mesh x=8".
    """
    if fault.reason == "killed":
        how = fault.detail.get("ended_by", "it ended itself")
        return SubmissionFault(
            "killed",
            f"A process of the grader crashed ({how}) while {activity}. Your Python does not run in it, only XLA and "
            "what XLA compiled, so this is a fault of XLA. To find the operation that crashes, leave out parts of the "
            "program until it runs.",
        )
    return fault_during(fault, activity)


def fault_during(fault: SubmissionFault, activity: str) -> SubmissionFault:
    """Add to the message what was going on, such as "your file was loaded", unless its reason already implies that."""
    if REASONS[fault.reason].needs_activity:
        return SubmissionFault(fault.reason, f"{fault} This happened while {activity}.", **fault.detail)
    return fault


def is_stuck(stderr_tail: str) -> bool:
    """Whether XLA has warned that devices wait for one another."""
    return "may be stuck" in stderr_tail


def divergence_of(stderr_tail: str) -> SubmissionFault:
    """A fault with the collective in XLA's last message: "Termination timeout for `reduce scatter RendezvousKey{…"."""
    waited = _WAITED_FOR.search(stderr_tail)
    arrived = _ARRIVED.search(stderr_tail)
    name = f" ({'an' if waited[1][0] == 'a' else 'a'} {waited[1].strip().replace(' ', '_')})" if waited else ""
    counts = f" {arrived[2]} of {arrived[1]} devices arrived." if arrived else ""
    return SubmissionFault(
        "divergent_collective",
        f"Not all devices reached the same collective{name}, so the others waited forever.{counts} Every device must "
        "execute the same collectives in the same order: keep them out of a `lax.cond`, or of a loop, whose condition "
        "differs from device to device.",
    )


def clean_detail(detail: Message) -> Message:
    """Keep only the fields of a fault's detail that our runner sends, because the reply may be forged."""
    kept: Message = {}
    for name in ("line", "column"):
        number = detail.get(name)
        if type(number) is int and 0 <= number < 2**31:
            kept[name] = number
    kind, traceback = detail.get("type"), detail.get("traceback")
    if isinstance(kind, str):
        kept["type"] = kind[:80]
    if isinstance(words := detail.get("compiler"), str):
        kept["compiler"] = words[:_LONGEST_WORDS]
    if isinstance(traceback, list):
        kept["traceback"] = [frame for item in traceback[:_MAX_FRAMES] if (frame := _clean_frame(item))]
    return kept


def _clean_frame(frame: object) -> dict[str, object] | None:
    match frame:
        case {"line": int(line), "function": str(function), "text": str(text)} if (
            type(line) is int and 0 <= line < 2**31
        ):
            return {"line": line, "function": function[:80], "text": text[:200]}
    return None
