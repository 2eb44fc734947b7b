"""More processes that answer at one port. Python runs on one core per process, and this gives the API several."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from app.core.start_errors import AddressUnusable, StartRefused
from app.entry.cli.listening_socket import listen

if TYPE_CHECKING:
    from app.core.neighbours import Neighbours
    from app.core.settings import Settings

log = logging.getLogger(__name__)
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
# A process that ran this long had started well.
_STARTED_S = 60.0
_END_LIMIT_S = 10.0


@contextlib.contextmanager
def own_sockets(settings: "Settings", port: int) -> Iterator[list[socket.socket]]:
    """A port for each process alone, after the common one: what a process counts itself is read there.

    None if there is only one, or if `/metrics` responds to nobody.

    Raises:
      AddressUnusable: one of the ports is in use, and the setting says how many processes there are.
    """
    with contextlib.ExitStack() as stack:
        if settings.api_processes == 1 or settings.metrics_token is None:
            yield []
            return
        numbers = range(1, settings.api_processes + 1)
        # If the system chose the common port, the ones after it may be in use.
        ports = [port + number if settings.port else 0 for number in numbers]
        yield [stack.enter_context(_listen(settings, each)) for each in ports]


def _listen(settings: "Settings", port: int) -> socket.socket:
    try:
        return listen(settings.host, port)
    except AddressUnusable:
        # Nobody asked for several processes, so a second server may use the next port.
        if "api_processes" in settings.model_fields_set:
            raise
        return listen(settings.host, 0)


class ApiProcesses:
    """The second process and those after it. One that ends is started again.

    Args:
      settings: of the first process, with the real port.
      common: the socket that all listen at.
      own: the further socket of each, beginning with that of the second process; empty if they have none.
      neighbours: exchanges messages with them.
    """

    def __init__(
        self, settings: "Settings", common: socket.socket, own: Sequence[socket.socket], neighbours: "Neighbours"
    ) -> None:
        self._settings = settings
        self._common = common
        self._own = own
        self._neighbours = neighbours

    async def run(self) -> None:
        """Until it is cancelled. It then waits until they have ended."""
        await asyncio.gather(*(self._keep(number) for number in range(2, self._settings.api_processes + 1)))

    async def _keep(self, number: int) -> None:
        loop, pause = asyncio.get_running_loop(), _FIRST_PAUSE_S
        while True:
            began = loop.time()
            ours, theirs = socket.socketpair()
            with theirs:
                process = await self._start(number, theirs)
            talking = asyncio.create_task(self._neighbours.talk(ours))
            try:
                status = await process.wait()
            finally:
                await _end(process)
                talking.cancel()
                await asyncio.gather(talking, return_exceptions=True)
            if loop.time() - began > _STARTED_S:
                pause = _FIRST_PAUSE_S
            log.error("API process %d ended with status %d, and is started again in %.0f s", number, status, pause)
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, 2 * pause)

    async def _start(self, number: int, link: socket.socket) -> asyncio.subprocess.Process:
        sockets = [self._common, *self._own[number - 2 : number - 1], link]
        numbers = [each.fileno() for each in sockets]
        settings = {
            "DATA": self._settings.data,
            "HOST": self._settings.host,
            "PORT": self._settings.port,
            "GRADING_SLOTS": 0,
            "API_PROCESSES": self._settings.api_processes,
        }
        if "worker_name" in self._settings.model_fields_set:
            # A name of its own. The default has the number of the process.
            settings["WORKER_NAME"] = f"{self._settings.worker_name[:97]}:{number}"
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.entry.cli", "serve", "--number", str(number)),
            *("--listeners", ",".join(map(str, numbers))),
            env=os.environ | {f"MESHGRADE_{name}": str(value) for name, value in settings.items()},
            pass_fds=numbers,
            # It ends with this pipe, however the first process ends.
            stdin=asyncio.subprocess.PIPE,
        )


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_END_LIMIT_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def given_sockets(numbers: str) -> list[socket.socket]:
    """Those that the first process has opened. Raises `StartRefused` for anything else."""
    try:
        return [socket.socket(fileno=int(number)) for number in numbers.split(",")]
    except (ValueError, OSError) as error:
        raise StartRefused(
            f"--listeners {numbers!r} names no open sockets: {error}.",
            "Only a first process passes it to the others. Use --processes to start several.",
        ) from None


def end_with_the_first() -> None:
    """End this process when the first one has ended."""

    def wait() -> None:
        # Not `sys.stdin.read`: its lock, which this thread would hold, makes Python abort at the end of the process.
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
