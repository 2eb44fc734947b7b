"""How many tasks (processes and threads) a fork may have, and all of them together."""

# Measured with 1 to 8 devices: 73 while a fork waits, 78 after a program. With 64 devices: 142.
TASKS = 512
# Those of a fork that runs no submission; those of the service, and of the processes around a zygote.
_WAITING, _OTHERS = 100, 100
# Of the limit of a container, for forks that the kernel counts together. The rest is for the service.
_SHARE = 0.75
_MOST_SHARED = 8192


def shared_tasks(limit: int | None) -> int:
    """The limit of forks whose tasks the kernel counts together; `limit` is that of the container."""
    return _MOST_SHARED if limit is None else min(_MOST_SHARED, int(_SHARE * limit))


def needed_tasks(slots: int, waiting: int) -> int:
    """What a container must permit so that no submission can leave another without threads.

    In each slot a submission may use up its limit, while verifiers run its program for two meshes.

    Args:
      waiting: how many forks the pool may hold, including verifiers.
    """
    return slots * (TASKS + 2 * _WAITING) + waiting * _WAITING + _OTHERS
