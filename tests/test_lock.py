"""uv.lock gives every supported Python the same packages, so that a verdict does not depend on the Python."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = tomllib.loads((ROOT / "uv.lock").read_text())
PACKAGES = [package for package in LOCK["package"] if package["name"] != PROJECT["name"]]
OLDEST, BELOW = map(int, re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups())
SUPPORTED = range(OLDEST, BELOW)


def test_every_package_has_one_version_for_all_pythons():
    twice = [name for name, number in Counter(package["name"] for package in PACKAGES).items() if number > 1]
    assert twice == []


@pytest.mark.parametrize("name", ["jax", "jaxlib", "flax", "optax"])
def test_what_decides_a_verdict_is_pinned_exactly(name):
    pinned = next((each for each in PROJECT["dependencies"] if re.fullmatch(rf"{name}==[\d.]+", each)), None)
    locked = next(package["version"] for package in PACKAGES if package["name"] == name)
    assert pinned == f"{name}=={locked}"


def test_the_readme_names_the_supported_pythons():
    *first, last = SUPPORTED
    assert f"Python {', '.join(f'3.{minor}' for minor in first)} or 3.{last}" in (ROOT / "README.md").read_text()


def test_the_image_has_one_supported_python():
    [minor] = set(re.findall(r"^FROM python:3\.(\d+)\.", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert int(minor) in SUPPORTED


def test_the_next_jax_is_pinned_and_names_a_python():
    text = (ROOT / "next-jax.txt").read_text()
    assert re.findall(r"^(\w+)==[\d.]+$", text, re.MULTILINE) == ["jax", "jaxlib", "flax", "optax"]
    assert int(re.search(r"^# Python 3\.(\d+) or newer$", text, re.MULTILINE)[1]) in SUPPORTED


def test_the_compiler_for_gpus_is_of_the_version_of_jaxlib():
    [jaxlib] = [package["version"] for package in PACKAGES if package["name"] == "jaxlib"]
    text = (ROOT / "gpu-compiler.txt").read_text()
    assert re.findall(r"^(\S+)==(\S+) ", text, re.MULTILINE) == [("jax-cuda12-pjrt", jaxlib)]
    # For x86-64 and ARM.
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", text)) == 2


@pytest.mark.parametrize("minor", SUPPORTED)
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_nothing_has_to_be_compiled(minor, machine):
    compiled = [
        package["name"]
        for package in PACKAGES
        # Optional, and for x86-64 alone.
        if package["name"] != "libtpu"
        and not any(_runs(wheel["url"].rsplit("/", 1)[1], minor, machine) for wheel in package.get("wheels", []))
    ]
    assert compiled == []


def test_every_package_comes_from_pypi():
    assert {package["source"]["registry"] for package in PACKAGES} == {"https://pypi.org/simple"}


def _runs(wheel, minor, machine):
    """Whether a wheel's tags fit CPython 3.`minor` on Linux."""
    _, python, abi, platform = wheel.removesuffix(".whl").rsplit("-", 3)
    if platform != "any" and not ("linux" in platform and machine in platform):
        return False
    if abi == "abi3":
        return any(int(tag.removeprefix("cp3") or 0) <= minor for tag in python.split("."))
    return abi in ("none", f"cp3{minor}") and bool({"py3", f"cp3{minor}"} & set(python.split(".")))
