"""The judge with its sandbox, and the compiler for GPUs, which `./meshgrade test --gpu` installs.

Without this compiler nothing is collected here, so other runs of pytest need none, and `./meshgrade test --gpu` fails.
"""

from grader.core.chips import compiler_of
from tests.grader.conftest import add_one, judge, sandbox, shared_cache, terse

__all__ = ["add_one", "judge", "sandbox", "shared_cache", "terse"]
collect_ignore_glob = [] if compiler_of("gpu") else ["test_*.py"]
