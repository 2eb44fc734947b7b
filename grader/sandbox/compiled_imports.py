"""Byte-compile once what zygotes and programs import, so that they need not:
`python -m grader.sandbox.compiled_imports`.

`./meshgrade` runs it after installing the packages. A compiled file names the path of its source. If it is compiled
behind the walls, that path reveals nothing about the host. No submitted code runs: it only imports.
"""

import subprocess
import sys
from pathlib import Path

from grader.core.errors import WallMissing
from grader.sandbox.bubblewrap import bubblewrap_command, zygote_command

_TIMEOUT_S = 300.0
_IMPORT = (
    "import sys; sys.path.insert(0, '/opt/meshgrade'); "
    "from grader.forks.zygote import import_everything; import_everything(); "
    # No zygote imports these: only some programs need them, and all would pay. chex asks for a temporary folder, and
    # a zygote has none.
    "import tempfile; tempfile.tempdir = '/'; import chex, einops, equinox, jaxtyping"
)


def main() -> int:
    """Return 0 when the packages are compiled; their folder has to be writable."""
    try:
        command = bubblewrap_command()
        packages = command.index(str(Path(sys.prefix, "lib")))
        # The packages are read-only for every zygote, and writable for this process of ours.
        command[packages - 1] = "--bind"
        done = subprocess.run([*command, zygote_command()[0], "-I", "-c", _IMPORT], timeout=_TIMEOUT_S, check=False)
    except (WallMissing, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
