"""A judge for one submission, without a server: its walls are proved first, and it is closed again."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from app.cli.private import open_private_folder
from app.settings import load_settings
from grader.judge import Judge
from grader.sandbox.build import build_sandbox
from grader.sandbox.doctor import require_walls
from grader.sandbox.pool import PoolSettings


@contextmanager
def alone() -> Iterator[tuple[Judge, Callable[[str], None], threading.Event]]:
    """Yield a judge, where to tell it to report its progress, and what stops it; Ctrl-C sets that.

    Raises:
      SettingInvalid: the environment says something that cannot be used.
      WallMissing: before anything is executed.
    """
    own = load_settings()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    private = open_private_folder()
    stop = threading.Event()
    with Console(stderr=True).status("proving the walls") as status:
        require_walls(own.isolation)
        # One submission, so nothing is kept ready for a next one.
        pool = PoolSettings(generic=1, per_problem=0)
        with build_sandbox(private.cache, isolation=own.isolation, settings=pool, ceiling=own.ceiling) as sandbox:
            try:
                yield Judge(sandbox, private.secret, private.cache), status.update, stop
            except KeyboardInterrupt:
                stop.set()
                raise
