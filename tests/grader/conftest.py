"""Packages and judges for the grader's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def add_one() -> Package:
    return read_package(Path(__file__).parent / "packages" / "add_one")


@pytest.fixture(scope="session")
def fsdp_step() -> Package:
    return read_package(CHECKOUT / "problems" / "fsdp_step")


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Test processes that run side by side share reference answers and compiled programs."""
    return tmp_path_factory.getbasetemp().parent / "references"


@pytest.fixture(scope="session")
def sandbox(shared_cache: Path) -> Iterator[PooledSandbox]:
    # Most tests ask for one runner of a problem and then for another problem: a larger pool would warm for nobody.
    with build_sandbox(shared_cache, settings=PoolSettings(per_problem=1, problems=2)) as built:
        yield built


@pytest.fixture(scope="session")
def judge(sandbox: PooledSandbox, shared_cache: Path) -> Judge:
    """A judge behind real walls."""
    return Judge(sandbox, b"a secret of the tests, 32 bytes.", shared_cache)


@pytest.fixture(scope="session")
def terse(sandbox: PooledSandbox, shared_cache: Path) -> Judge:
    """A judge that runs no known wrong submissions."""
    return Judge(sandbox, b"a secret of the tests, 32 bytes.", shared_cache, known_runs=0)
