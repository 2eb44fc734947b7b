"""Threads that grade, because the judge blocks and the event loop must not."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class GradingThreads:
    """A fixed number of threads that live as long as the process.

    Not concurrent.futures: it joins its threads at exit, so one stuck grading would keep the server from ending. Not
    one thread per call either: a sandbox that asks to die with its parent dies with the *thread* that started it.
    https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
    """

    def __init__(self, number: int) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        for index in range(number):
            threading.Thread(target=self._serve, name=f"grading-{index}", daemon=True).start()

    async def run(self, function: Callable[[], T]) -> T:
        """Call `function` in one of the threads, and return or raise its outcome. Cancelling only ends the wait."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def resolve(settle: Callable[[], None]) -> None:
            # The loop is closed if the service ended without waiting for this call. Then nobody needs the outcome.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if future.done() else settle())

        def call() -> None:
            try:
                result = function()
            except BaseException as error:  # raised in the caller, whatever it is
                caught = error
                resolve(lambda: future.set_exception(caught))
            else:
                resolve(lambda: future.set_result(result))

        self._work.put(call)
        return await future

    def _serve(self) -> None:
        while True:
            self._work.get()()
