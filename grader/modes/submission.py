"""A submission on its way into a runner."""

from grader.errors import SubmissionFault
from grader.sandbox.protocol import Session

_MAX_SOURCE_BYTES = 128 << 10


def load_submission(session: Session, source: str, entry: str) -> None:
    """Run a submission as a module. `entry` names the function that it is to define.

    Raises:
      SubmissionFault: it is too long, or what `Session.load` raises. The service and the command line refuse far
        shorter ones, with an answer of their own.
    """
    size = len(source.encode("utf-8", "replace"))
    if size > _MAX_SOURCE_BYTES:
        told = f"The source has {size:,} bytes; the judge takes at most {_MAX_SOURCE_BYTES:,}."
        raise SubmissionFault("syntax_error", told)
    session.load(source, entry)
