"""The walls that a process can only build around itself: rlimits, and giving up root."""

import json
import os
import resource
from dataclasses import asdict, dataclass

MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the sandbox tells a runner about itself, in one command line argument.

    `uid` is the user to become, or None where the process has no root to give up. Sizes are in bytes, `cpu_s` is
    seconds of CPU over the whole life of the process.
    """

    fd: int
    uid: int | None
    data_bytes: int
    file_bytes: int
    cpu_s: int
    tasks: int
    open_files: int
    max_payload_bytes: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Confinement":
        return cls(**json.loads(text))


def confine(confinement: Confinement) -> None:
    """Set the limits, then give up root for good.

    Raises:
      OSError: one of them cannot be set. The process must not go on, and the caller lets it end here.
    """
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, confinement.data_bytes),
        (resource.RLIMIT_FSIZE, confinement.file_bytes),
        (resource.RLIMIT_CPU, confinement.cpu_s),
        (resource.RLIMIT_NOFILE, confinement.open_files),
        (resource.RLIMIT_NPROC, confinement.tasks),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    if confinement.uid is not None:
        os.setgroups([])
        os.setresgid(confinement.uid, confinement.uid, confinement.uid)
        # From root to a user drops every capability, and the kernel's no_new_privs keeps them from coming back.
        os.setresuid(confinement.uid, confinement.uid, confinement.uid)
    if 0 in os.getresuid() or 0 in os.getresgid():
        raise OSError("still root after dropping privileges")
