"""A judge for one submission, without a server. Its walls are tested first, and it is closed at the end."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from app.cli.private import open_private_folder
from app.judging import build_judging
from app.settings import load_settings
from grader.context import Context
from grader.judge import Judge
from grader.sandbox.doctor import require_walls


@contextmanager
def alone() -> Iterator[tuple[Judge, Context]]:
    """Yield a judge and the context for its calls: progress goes to standard error, and Ctrl-C stops the work.

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
        with build_judging(own, private.cache, private.secret, alone=True) as judging:
            try:
                yield judging.judge, Context(status.update, stop)
            except KeyboardInterrupt:
                stop.set()
                raise
