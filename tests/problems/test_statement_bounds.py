"""Each statement gives the bounds that its problem is graded by, as numbers, and says why its mesh is Auto."""

import math
import re

import pytest

from grader.checks.program.memory import SLACK_BYTES
from grader.checks.program.scaling import TOLERANCE
from grader.package.package import CheckSpec, Package
from grader.package.reader import read_package
from tests.grader.shipped import PROBLEMS, slugs

SLUGS = sorted(path.parent.name for path in PROBLEMS.glob("*/problem.toml"))


@pytest.fixture(scope="module", params=SLUGS)
def package(request: pytest.FixtureRequest) -> Package:
    return read_package(PROBLEMS / request.param)


def test_the_statement_gives_every_bound_of_the_manifest(package: Package) -> None:
    text = " ".join(package.statement.split())
    wanted = [phrase for check in package.manifest.checks for phrase in phrases(package, check)]
    assert [phrase for phrase in wanted if not re.search(phrase, text)] == []


# A problem of mode program always has a mesh.
WITH_A_MESH = [slug for slug in slugs("call") if "mesh" in read_package(PROBLEMS / slug).statement.lower()]


@pytest.mark.parametrize("slug", WITH_A_MESH + slugs("program"))
def test_the_statement_says_why_its_mesh_is_auto(slug: str) -> None:
    """`jax.make_mesh` gives Explicit axes, and students know it from elsewhere."""
    text = read_package(PROBLEMS / slug).statement
    assert all(word in text for word in ("Auto", "Explicit", "`jax.make_mesh`"))


def phrases(package: Package, check: CheckSpec) -> list[str]:
    """What the statement has to say about a check, as patterns for its text with single spaces."""
    mode = package.manifest.mode
    points = rf"\*\*{check.points}\*\* |\| {check.points} \|"
    bounds = check.bounds
    if check.id == "values" and mode == "answer":
        return [points]
    if check.id == "values" and not package.manifest.tolerance:
        return [points, "exactly"]
    if check.id == "values":
        tolerance = package.manifest.tolerance["float32"]
        if tolerance.rtol == tolerance.atol == 0:
            return [points, "every bit"]
        absolute, relative = tex(tolerance.atol), tex(tolerance.rtol)
        return [
            points,
            rf"relative \${relative}\$ (plus|and) an absolute \${absolute}\$"
            rf"|within \${absolute} \+ {relative} \\cdot \|",
        ]
    if check.id == "flops":
        return [points, number(f"between {bounds.at_least:g} and {bounds.at_most:g} times")]
    if check.id == "memory":
        return [
            points,
            "arguments, and arrays written into the program as constants, at most "
            + number(f"{bounds.arguments_at_most:g} times"),
            number(f"(scratch memory|temporary buffers) at most {bounds.temporaries_at_most:g} times"),
            rf"and {SLACK_BYTES:,} bytes more in each case",
        ]
    if check.id == "scaling":
        return [points, rf"by the reference's factor, to within {TOLERANCE * 100:g} %"]
    if check.id == "init_memory":
        return [points, number(f"at most {bounds.at_most:g} times")]
    return [points]


def number(text: str) -> str:
    return text.replace(".", r"\.")


def tex(value: float) -> str:
    """A tolerance as the statements write it, as a pattern: 10^{-4}, or 2 \\cdot 10^{-5}."""
    exponent = math.floor(math.log10(value))
    factor = round(value / 10**exponent, 6)
    power = rf"10\^\{{{exponent}\}}"
    return power if factor == 1 else rf"{factor:g} \\cdot {power}"
