"""The judge with its sandbox, and libtpu, which `./meshgrade test --tpu` installs."""

from tests.grader.conftest import add_one, judge, sandbox, shared_cache

__all__ = ["add_one", "judge", "sandbox", "shared_cache"]
