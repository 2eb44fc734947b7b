"""Reserve user numbers for forks, which no other fork or Meshgrade process on this machine has.

The limit on threads counts per user of the whole machine. Two forks of one user, even of different services, would use
up each other's limit, and a submission would get an error about its threads.
"""

import fcntl
import os
import threading
from collections import deque
from pathlib import Path

from grader.core.errors import GraderFault
from grader.sandbox.remedies import TO_FIX_IT

LOCKS = Path("/run/meshgrade/users")
# These are above the users that distributions give to people, and below the 65,536 that a container may have in all.
_FIRST, _RANGES, _IN_RANGE = 61_000, 250, 16


class Users:
    """Assigns each user number to one living fork at a time. Threads may share one; close it once.

    A lock on a file reserves a range of numbers. The kernel releases the lock when its process ends, so no range is
    ever lost.
    """

    def __init__(self, locks: Path = LOCKS) -> None:
        self._locks = locks
        self._held: list[int] = []
        self._free: deque[int] = deque()
        self._guard = threading.Lock()

    def take(self) -> int:
        """Return a user that is reserved until it is given back.

        Raises:
          GraderFault: the lock files cannot be written, or other processes hold every range.
        """
        with self._guard:
            if not self._free:
                self._free.extend(self._claim_range())
            return self._free.popleft()

    def give_back(self, uid: int) -> None:
        """Give back a user whose fork has ended. Users are assigned again in the order that they were given back."""
        with self._guard:
            self._free.append(uid)

    def close(self) -> None:
        with self._guard:
            for descriptor in self._held:
                os.close(descriptor)
            self._held.clear()
            self._free.clear()

    def _claim_range(self) -> range:
        try:
            self._locks.mkdir(mode=0o700, parents=True, exist_ok=True)
            for number in range(_RANGES):
                descriptor = os.open(self._locks / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(descriptor)
                    continue
                self._held.append(descriptor)
                return range(_FIRST + number * _IN_RANGE, _FIRST + (number + 1) * _IN_RANGE)
        except OSError as error:
            raise GraderFault(
                f"cannot reserve users for sandboxes: {error}.{TO_FIX_IT}give the service write access to {self._locks}"
            ) from error
        raise GraderFault(
            f"other Meshgrade processes on this machine hold all {_RANGES} ranges of sandbox users."
            f"{TO_FIX_IT}stop some of them"
        )


def others_with(uid: int, pid: int) -> list[int]:
    """The processes of a user on this machine, other than `pid`."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != pid:
            try:
                # Don't ask for the owner of the folder, which is root if a process forbids tracing, as every fork does.
                owner = Path(entry.path, "status").read_text(errors="replace").partition("\nUid:")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(owner) == uid:
                found.append(int(entry.name))
    return found
