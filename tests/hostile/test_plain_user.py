"""The attacks on a service that is not root: one in five in each run, drawn by its digest, and all with `--all`.

Then all forks are one user, and a namespace of users stands where root would give each fork a user of its own. If the
tests themselves run without root, test_hostile.py does all of this.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.arena import PLAIN_UID
from tests.hostile.test_hostile import ATTACKS, ON_X86, x86
from tests.selection import CHECKOUT, digest_of, is_drawn

ONE_IN = 5
# An attack that is graded alone, or the first and the second of a pair.
STEPS = [
    [name] if attack.pair is None else [name, attack.pair]
    for name, attack in ATTACKS.items()
    if attack.pair is None or name < attack.pair
]
DRAWN = [step for step in STEPS if is_drawn(digest_of(*(ATTACKS[name].text for name in step)), ONE_IN)]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="all of test_hostile.py runs without root")
pytestmark = [
    pytest.mark.xdist_group("attacks on a plain user"),
    # If a batch did harm, its attacks run again and again.
    pytest.mark.timeout(900),
]


class PlainArena:
    """An arena in a process of a user without privileges."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        scratch = folder / "scratch"
        scratch.mkdir()
        os.chown(scratch, PLAIN_UID, PLAIN_UID)
        stash = folder / "stash"
        stash.mkdir()
        named = [CHECKOUT, Path(sys.prefix), Path(sys.base_prefix)]
        # A link on the way is left out where a folder is replaced, so its target is needed under both names.
        read = dict.fromkeys([*named, *(each.resolve() for each in named)])
        enter = [
            "unshare",
            "--mount",
            sys.executable,
            "-m",
            "tests.hostile.open_folders",
            str(stash),
            *map(str, read),
            "--",
        ]
        give_up = ["setpriv", "--reuid", str(PLAIN_UID), "--regid", str(PLAIN_UID), "--clear-groups", "--no-new-privs"]
        give_up += ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*enter, *give_up, sys.executable, "-m", "tests.hostile.plain_arena", str(scratch)],
                cwd=CHECKOUT,
                env={**_kept_variables(), "TMPDIR": str(scratch)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.rights = self._read()

    def ask(self, line: str) -> str | None:
        """What did not hold in an attack, or after an empty line, what is left of all attacks."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        # Without input, it ends by itself.
        self._process.communicate(timeout=120)

    def _read(self):
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait(120)
            said = self._log.read_text()
            pytest.fail(f"The plain user's arena ended:\n{said}")
        return json.loads(answer)


def _kept_variables() -> dict[str, str]:
    names = {"PATH", "PYTHONPYCACHEPREFIX"}
    return {name: text for name, text in os.environ.items() if name in names} | {"PYTHONPATH": str(CHECKOUT)}


@pytest.fixture(scope="module")
def plain() -> Iterator[PlainArena]:
    # Not below pytest's folder, which only root can enter. The folder itself is root's, so other arenas don't count it
    # as left by a fork.
    with tempfile.TemporaryDirectory(prefix="meshgrade-plain-", dir="/var/tmp") as made:
        folder = Path(made)
        folder.chmod(0o755)
        arena = PlainArena(folder)
        try:
            yield arena
        finally:
            arena.close()


@needs_root
def test_the_service_has_no_privilege(plain: PlainArena) -> None:
    own = f"{PLAIN_UID}\t{PLAIN_UID}\t{PLAIN_UID}\t{PLAIN_UID}"
    none = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16)
    assert plain.rights == {"Uid": own, "Gid": own, "Groups": "", **none}


@needs_root
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, id=step[0], marks=[x86] if step[0] in ON_X86 or step[0].startswith("syscalls/") else [])
        for step in DRAWN
    ],
)
def test_an_attack_gets_nowhere_without_root(plain: PlainArena, step: list[str]) -> None:
    assert (fault := plain.ask(" ".join(step))) is None, fault


@needs_root
def test_they_leave_nothing(plain: PlainArena) -> None:
    assert (fault := plain.ask("")) is None, fault


def test_each_kind_of_attack_is_drawn() -> None:
    kinds = {attack.group for attack in ATTACKS.values()}
    drawn = {ATTACKS[step[0]].group for step in DRAWN}
    assert drawn == kinds, "take another ONE_IN"
    assert len(STEPS) / 8 < len(DRAWN)
