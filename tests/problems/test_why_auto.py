"""Statements with a mesh say why it is Auto."""

import pytest

from grader.package.reader import read_package
from tests.grader.shipped import PROBLEMS, slugs

# A problem of mode program always has a mesh.
WITH_A_MESH = [slug for slug in slugs("call") if "mesh" in read_package(PROBLEMS / slug).statement.lower()]


@pytest.mark.parametrize("slug", WITH_A_MESH + slugs("program"))
def test_the_statement_says_why_its_mesh_is_auto(slug: str) -> None:
    """`jax.make_mesh` gives Explicit axes, and students know it from elsewhere."""
    text = read_package(PROBLEMS / slug).statement
    assert all(word in text for word in ("Auto", "Explicit", "`jax.make_mesh`"))
