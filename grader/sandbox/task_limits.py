"""How many tasks (processes and threads) a fork may have, and all of them together."""

# A fork was measured to have 73 tasks while it waits and 78 after a program on 1 to 8 devices, and 142 on 64.
TASKS = 512
# Tasks of a fork that runs no submission; tasks of the service and of the processes around a zygote.
_WAITING, _OTHERS = 100, 100
# The share of a container's limit for forks, if the kernel counts them together. The rest is for the service.
_SHARE = 0.75
_MOST_SHARED = 8192


def shared_tasks(limit: int | None) -> int:
    """The limit for all forks, if the kernel counts their tasks together; `limit` is the container's."""
    return _MOST_SHARED if limit is None else min(_MOST_SHARED, int(_SHARE * limit))


def needed_tasks(slots: int, waiting: int) -> int:
    """How many tasks a container must permit, so that no submission can leave another without threads.

    In each slot, a submission can use up its limit while verifiers run its program for two meshes.

    Args:
      slots: how many submissions are graded at the same time.
      waiting: how many forks the pool can hold, including verifiers.
    """
    return slots * (TASKS + 2 * _WAITING) + waiting * _WAITING + _OTHERS
