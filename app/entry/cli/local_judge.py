"""A judge without a server, for a submission or a package. Its walls are tested first; it is closed at the end."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from app.core.settings import load_settings
from app.entry.cli.private_folder import open_private_folder
from app.grading.judging import build_judging
from grader.core.context import Context
from grader.judging.judge import Judge
from grader.sandbox.doctor import require_walls


@contextmanager
def local_judge(*, at_once: int | None = None) -> Iterator[tuple[Judge, Context]]:
    """Yield a judge and the context for its calls: progress goes to standard error, and Ctrl-C stops the work.

    Args:
      at_once: how many submissions of a package are graded at the same time; None for a single submission.
    Raises:
      SettingInvalid: a setting in the environment cannot be used.
      WallMissing: raised before anything is executed.
    """
    own = load_settings()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    private = open_private_folder()
    stop = threading.Event()
    with Console(stderr=True).status("testing the walls") as status:
        require_walls(own.isolation)
        several = own.model_copy(update={"grading_slots": at_once, "pool_per_problem": at_once})
        used = own if at_once is None else several
        with build_judging(used, private.cache, private.secret, alone=at_once is None) as judging:
            try:
                yield judging.judge, Context(status.update, stop)
            except KeyboardInterrupt:
                stop.set()
                raise
