"""The judge with its sandbox, and libtpu, which `./meshgrade test --tpu` installs.

Without libtpu nothing is collected here, so other runs of pytest need none, and `./meshgrade test --tpu` fails.
"""

from grader.core.chips import compiler_of
from tests.grader.conftest import add_one, judge, sandbox, shared_cache, terse

__all__ = ["add_one", "judge", "sandbox", "shared_cache", "terse"]
collect_ignore_glob = [] if compiler_of("tpu") else ["test_*.py"]
