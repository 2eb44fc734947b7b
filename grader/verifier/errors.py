"""The errors with which the verifier refuses a program."""

import re

from grader.core.wire import Message

# XLA ends its messages with "Suspected Python Code Location:" and a line for each frame, the innermost first.
_SUSPECTED = re.compile(r"^\s*(?:\S*/)?submission\.py:(\d{1,9})\b", re.MULTILINE)
# XLA checks programs after its passes with a verifier and with RET_CHECK. Kernels that an author wrote for Mosaic or
# Triton can fail as INTERNAL, too, and these are the author's.
_OF_ITS_OWN = ("[hlo verifier]", "RET_CHECK failure")
_LONGEST = 4_000


class ProgramRefused(Exception):
    """The verifier cannot grade the program.

    `reason` is from the judge's closed list, and `detail` has the fields that `grader.sandbox.faults.clean_detail`
    keeps.
    """

    def __init__(self, reason: str, message: str, detail: Message | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.detail = detail or {}


class OnlyOnChips(ProgramRefused):
    """XLA cannot compile the program for CPUs."""

    def __init__(self, target: str) -> None:
        super().__init__(
            "not_exportable",
            f"XLA does not compile `{target}` for CPUs, only for GPUs and TPUs. Use `jax.lax.all_to_all` with parts of "
            "equal size, padded to a capacity.",
        )


def failed(when: str, error: Exception) -> ProgramRefused:
    """The refusal for an error of XLA or JAX. `when` says what failed, such as "runs"."""
    text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:500]}"
    reason = "memory_limit" if "RESOURCE_EXHAUSTED" in text or "Out of memory" in text else "error"
    return ProgramRefused(reason, f"The program fails when it {when}: {text}")


def failed_inside_xla(error: Exception) -> ProgramRefused | None:
    """The refusal if XLA's compiler found a fault in its own work; None for any other error.

    The message says what to try, and the detail has XLA's words and the line that it suspects.
    """
    status, _, text = str(error).strip().partition(": ")
    if status != "INTERNAL" or not any(words in text for words in _OF_ITS_OWN):
        return None
    suspected = _SUSPECTED.search(text)
    detail: Message = {"compiler": text[:_LONGEST]}
    where = ""
    if suspected:
        detail["line"] = int(suspected[1])
        where = f" It suspects line {detail['line']}."
    message = (
        "XLA itself fails on this program, because one of its passes wrote what XLA does not accept. This is not a "
        f"mistake in your code.{where} Write that part with other operations or for other shapes, or leave out parts "
        "until the program compiles."
    )
    return ProgramRefused("error", message, detail)
