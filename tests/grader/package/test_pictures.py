"""A picture is shown only if it was made from this package by this version of JAX."""

import importlib.metadata
import json
from dataclasses import replace

import pytest

from grader.package.fault import PackageInvalid
from grader.package.package import VariantSpec
from grader.package.pictures import PICTURES, drawn_from, picture_of
from grader.package.variants import every_variant
from grader.review.reader import package_of
from grader.verdicts.pictures import Outline, Picture, Pictures
from tests.grader.shipped_submissions import package

OUTLINE = Outline(mesh={}, inputs=[], collectives=[], outputs=[])


def drawn(made):
    return Pictures.of_this_jax(
        {each.variant_name or "": Picture(of=drawn_from(each), solution=OUTLINE) for each in every_variant(made)}
    )


def test_the_file_changes_no_version_and_is_read_as_it_was_written():
    made = package("dp_step")
    read = package_of(None, {**made.files, PICTURES: drawn(made).text()})
    assert (read.version, read.files, read.pictures) == (made.version, made.files, drawn(made))
    assert picture_of(read) == drawn(made).variants[""]


def test_each_variant_has_its_own():
    made = package("dp_step")
    variants = [VariantSpec(name=name, values={"width": size}) for name, size in (("a", 2), ("b", 4))]
    made = replace(made, manifest=made.manifest.model_copy(update={"variants": variants}))
    found = drawn(made)
    assert found.variants["a"].of != found.variants["b"].of
    assert [picture_of(each) for each in every_variant(replace(made, pictures=found))] == list(found.variants.values())


@pytest.mark.parametrize("part", ["starter", "reference", "cases"])
def test_the_picture_of_other_files_is_not_shown(part):
    made = package("dp_step")
    assert picture_of(replace(made, pictures=drawn(made))) is not None
    assert picture_of(replace(made, pictures=drawn(made), **{part: "another = 1"})) is None


def test_the_picture_of_another_jax_is_not_shown():
    made = package("dp_step")
    older = drawn(made).model_copy(update={"jax": "0.0.1"})
    assert older.jax != importlib.metadata.version("jax")
    assert picture_of(replace(made, pictures=older)) is None
    assert not drawn(made).holds(older)
    assert drawn(made).holds(drawn(made))


@pytest.mark.parametrize(
    ("shape", "held"), [([8], [[[0, 4]]]), ([8], [[], []]), ([], [[[0, 4]], [[4, 8]]])], ids=["devices", "none", "rank"]
)
def test_a_file_that_nothing_wrote_is_refused(shape, held):
    """A page could not draw it."""
    leaf = {"path": "x", "dtype": "float32", "shape": shape, "held": held}
    outline = {"mesh": {"x": 2}, "inputs": [leaf], "collectives": [], "outputs": []}
    made = {"jax": "0.10.2", "variants": {"": {"of": "0", "solution": outline}}}
    for text in ("{}", json.dumps(made)):
        with pytest.raises(PackageInvalid, match=r"pictures\.json is not what `meshgrade problem check` writes"):
            package_of(None, {**package("dp_step").files, PICTURES: text})
