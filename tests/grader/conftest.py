"""Packages and judges for the grader's tests."""

from pathlib import Path

import pytest

from grader.judge import Judge
from grader.package.package import Package
from grader.package.reader import read_package
from grader.sandbox.bubblewrap import BubblewrapSandbox

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def add_one() -> Package:
    return read_package(Path(__file__).parent / "packages" / "add_one")


@pytest.fixture(scope="session")
def fsdp_step() -> Package:
    return read_package(CHECKOUT / "problems" / "fsdp_step")


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """A judge in real walls. Test processes that run side by side share its reference answers."""
    shared = tmp_path_factory.getbasetemp().parent / "references"
    return Judge(BubblewrapSandbox(), b"a secret of the tests, 32 bytes.", shared)
