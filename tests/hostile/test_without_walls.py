"""A probe tests a wall only if it gets through when that wall is missing.

Left out are attacks that would do harm without the wall, and those that several walls stop: for these it is enough
that other attacks test each of the walls.
"""

import os
import platform
from collections.abc import Iterator

import pytest

from grader.sandbox.walls import REMOVABLE
from tests.hostile.arena import Arena
from tests.hostile.attack import Attack, read_corpus

# Attacks that a missing wall would not reveal, or only with harm.
LEFT_OUT = {
    "processes/fork_bomb": "takes the machine along",
    "processes/fork_that_outlives": "leaves a process behind",
    "processes/kill_the_group": "signals the zygote",
    "processes/signal_to_itself": "ends itself",
    "resources/stop_itself": "stops itself",
    "resources/thread_bomb": "the limit on data, which comes with the submission, stops its stacks as well",
}
# Attacks that, without root, the fork's own user namespace stops as well.
STOPPED_WITHOUT_ROOT = {"processes/user_namespace": "a user who has no number there cannot make another one"}
# Calls that a kernel may be built without, or refuse to everyone by its settings, with or without the wall.
KERNEL_DECIDES = frozenset(
    """
    syscalls/io_uring_setup syscalls/io_uring_enter syscalls/io_uring_register syscalls/userfaultfd
    syscalls/perf_event_open syscalls/memfd_secret syscalls/fanotify_init syscalls/modify_ldt network/crypto_socket
    network/vsock processes/interrupt_0x80
    """.split()
)


def single_walled(wall: str) -> list[Attack]:
    return [
        attack
        for attack in read_corpus()
        if attack.walls == (wall,)
        and attack.pair is None
        and attack.name not in LEFT_OUT
        and (os.geteuid() == 0 or attack.name not in STOPPED_WITHOUT_ROOT)
        and attack.expected == {("accepted", None)}
    ]


@pytest.fixture(scope="module", params=REMOVABLE)
def breached(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Arena]]:
    """An arena with one wall taken down."""
    wall = request.param
    with Arena(tmp_path_factory.mktemp(wall), frozenset({wall})) as arena:
        yield wall, arena


@pytest.mark.skipif(platform.machine() != "x86_64", reason="call numbers of x86-64")
def test_without_its_wall_an_attack_gets_through(breached):
    wall, arena = breached
    attacks = single_walled(wall)
    assert attacks, f"no attack of the corpus tests the wall {wall} alone"
    held = []
    for attack in attacks:
        verdict = arena.attack(attack)
        assert wall not in verdict.walls
        if "CROSSED" not in verdict.stdout and attack.name not in KERNEL_DECIDES:
            held.append(
                f"{attack.name}: {verdict.status}/{verdict.reason} {verdict.stdout!r} {verdict.stderr[-300:]!r}"
            )
    assert not held, "stopped though the wall is down:\n" + "\n".join(held)
