"""Variants of a package: what the manifest may say, and how a package becomes one of them."""

import shutil
from pathlib import Path

import pytest

from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.package.variants import VariantMissing, every_variant, of_variant
from grader.review.reader import package_of, read_package
from grader.review.validation import expectations
from grader.review.variant_use import named_variants, naming

PACKAGES = Path(__file__).parents[1] / "packages"
SECOND = '[[variants]]\nname = "b"\nvalues = { axis = "data", width = 5, factor = 5 }\n'


@pytest.fixture(scope="module")
def scale_by() -> Package:
    return read_package(PACKAGES / "scale_by")


def test_a_package_is_its_first_variant_until_another_is_chosen(scale_by: Package) -> None:
    assert scale_by.variant_name == "a"
    assert "`(3,)`, times 3" in scale_by.statement
    other = of_variant(scale_by, "b")
    assert other.statement.endswith("It returns `x`, of shape `(5,)`, times 5. The axis is called `data`.\n")
    assert other.hints == ("Multiply.", "Multiply by 5.")
    assert other.editorial == "`x * 5` is all there is.\n"
    assert other.starter.startswith('AXIS = "data"\n')
    assert other.helpers["variant"].splitlines()[2:] == ["axis = 'data'", "width = 5", "factor = 5"]
    assert of_variant(other, "a") == scale_by


def test_variants_are_of_one_version_and_differ_in_what_is_graded(scale_by: Package) -> None:
    one, other = every_variant(scale_by)
    assert one.version == other.version == package_of("scale_by", scale_by.files).version
    assert one.identity != other.identity
    assert one.files == other.files
    assert "{{ factor }}" in one.files["statement.md"]


def test_a_package_without_variants_is_named_by_its_version(add_one: Package) -> None:
    assert every_variant(add_one) == (add_one,)
    assert of_variant(add_one, None) is add_one
    assert (add_one.identity, add_one.variant, add_one.helpers) == (add_one.version, None, {})


def test_places_are_left_alone_in_a_package_without_variants(add_one: Package) -> None:
    files = {**add_one.files, "statement.md": "Write `add_one(x)`: {{ x }}"}
    assert package_of("add_one", files).statement.endswith("{{ x }}")


def test_a_variant_that_does_not_exist_is_named(scale_by: Package, add_one: Package) -> None:
    with pytest.raises(VariantMissing, match="scale_by has no variant 'c'; it has 'a', 'b'"):
        of_variant(scale_by, "c")
    with pytest.raises(VariantMissing, match="scale_by has the variants 'a', 'b', and none of them was named"):
        of_variant(scale_by, None)
    with pytest.raises(VariantMissing, match="add_one has no variants"):
        of_variant(add_one, "a")


def test_each_variant_has_its_own_shipped_submissions(scale_by: Package) -> None:
    one, other = ({each.file for each in expectations(each)} for each in every_variant(scale_by))
    assert one - other == {"submissions/rejected/wrong_value/number_of_b.py"}
    assert other - one == {"submissions/accepted/literal_b.py"}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("", "variants: there is one. Write 2 to 16"),
        (SECOND.replace('"b"', '"a"'), "the name 'a' occurs twice"),
        (SECOND.replace(", factor = 5", ""), "have the same names and types, those of the first: axis (text), factor"),
        (SECOND.replace("factor = 5", "factor = 5.0"), "the first: axis (text), factor (whole number), width"),
        (SECOND.replace('"data", width = 5, factor = 5', '"model", width = 3, factor = 3'), "same values as 'a'"),
        (SECOND.replace("factor = 5", "factor = true"), "a value of a variant is a number or a text"),
        (SECOND.replace("factor = 5", "factor = [5]"), "a value of a variant is a number or a text"),
        (SECOND.replace('"data"', "'da\"ta'"), "variants.1.values.axis"),
        (SECOND.replace("factor = 5", "lambda = 5"), "'lambda' is not a name that code can import"),
        (SECOND.replace("values", "value"), "unknown key 'variants.1.value' (did you mean 'values'?)"),
    ],
    ids=["one", "names", "keys", "types", "values", "boolean", "list", "quote", "keyword", "key"],
)
def test_what_a_manifest_must_not_say(scale_by: Package, new: str, said: str) -> None:
    manifest = scale_by.files["problem.toml"]
    assert SECOND in manifest
    with pytest.raises(PackageInvalid) as caught:
        package_of("scale_by", {**scale_by.files, "problem.toml": manifest.replace(SECOND, new)})
    assert any(said in str(each) for each in caught.value.faults), [str(each) for each in caught.value.faults]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("hints.md", "## Hint 1\n\nUse {{ factr }}.\n", "hints.md: no variant has a value 'factr'"),
        ("starter.py", 'def scale(x):\n    return "{{ axis:bytes }}"\n', "a text cannot be shown as bytes"),
        ("helpers/variant.py", "width = 3\n", "helpers/variant.py would hide the module"),
        ("submissions/accepted/c.py", '"""C."""\n# variants: a, c\n', "names the variant 'c', which does not exist"),
    ],
    ids=["value", "bytes", "helper", "submission"],
)
def test_files_must_use_what_the_variants_have(scale_by: Package, file: str, text: str, said: str) -> None:
    with pytest.raises(PackageInvalid) as caught:
        package_of("scale_by", {**scale_by.files, file: text})
    (fault,) = caught.value.faults
    assert said in str(fault)
    assert fault.rule == "variant"


@pytest.mark.parametrize("mode", ["call", "answer"])
def test_variants_of_another_mode_are_told_apart(scale_by: Package, mode: str) -> None:
    manifest = scale_by.files["problem.toml"]
    if mode == "answer":
        manifest = manifest.replace('mode = "call"', 'mode = "answer"')
    else:
        tables = manifest[manifest.index("[[variants]]") : manifest.index("[[checks]]")]
        manifest = manifest.replace(tables, "").replace("[limits]", "variants = 8\n\n[limits]")
    with pytest.raises(PackageInvalid) as caught:
        package_of("scale_by", {**scale_by.files, "problem.toml": manifest})
    assert any("[[variants]] belongs to the modes call and program" in str(each) for each in caught.value.faults)


def test_a_line_of_a_submission_names_its_variants() -> None:
    assert named_variants(f'{naming("b")}\n"""Adds."""\n') == ("b",)
    assert named_variants('"""Adds."""\n# variants: a, b\n') == ("a", "b")
    assert named_variants('"""Adds."""\nx = 1  # variants: a\n') == ()


def test_a_folder_is_read_like_stored_files(scale_by: Package, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(PACKAGES / "scale_by", tmp_path / "scale_by"))
    assert read_package(folder) == package_of("scale_by", scale_by.files, is_stored=True)
