"""The variants of a package in call or program mode: the same problem with other values.

Texts name a value as `{{ name }}`. Code imports it from the module `variant`, a helper like any other.
"""

from collections.abc import Mapping
from dataclasses import replace

from grader.core.errors import MeshgradeError
from grader.core.template import fill
from grader.package.package import AnswerManifest, Manifest, Package, VariantSpec

MODULE = "variant"
# The texts whose places are filled with values.
TEXTS = ("statement.md", "hints.md", "editorial.md", "starter.py")


class VariantMissing(MeshgradeError):
    """A package has no variant of this name."""


def variants_of(manifest: Manifest) -> tuple[VariantSpec, ...]:
    """The variants of a package; none in mode answer, whose questions are drawn by other means."""
    return () if isinstance(manifest, AnswerManifest) else tuple(manifest.variants)


def of_variant(package: Package, name: str | None) -> Package:
    """The package as a student with this variant gets it. A package without variants has only the name None.

    Raises:
      VariantMissing: the message says which variants there are.
    """
    if name == package.variant_name:
        return package
    chosen = next((each for each in variants_of(package.manifest) if each.name == name), None)
    if chosen is None:
        raise VariantMissing(_missing(package, name))
    return _bound(package, chosen)


def like(package: Package, name: str | None) -> Package:
    """Return the package in this variant, or unchanged if this version has no variant of this name."""
    return of_variant(package, name) if name in [each.name for each in variants_of(package.manifest)] else package


def first_variant(package: Package) -> Package:
    """The first variant of a package that was just read; the package itself if it has none."""
    chosen = variants_of(package.manifest)
    return _bound(package, chosen[0]) if chosen else package


def every_variant(package: Package) -> tuple[Package, ...]:
    """The package once for each variant, or only itself."""
    return tuple(_bound(package, each) for each in variants_of(package.manifest)) or (package,)


def module_text(variant: VariantSpec) -> str:
    """The source of the module that code imports."""
    lines = [f"{name} = {value!r}" for name, value in variant.values.items()]
    return "\n".join([f'"""The values of variant {variant.name} of this problem."""', "", *lines, ""])


def values_text(variant: VariantSpec) -> str:
    """Format the values of a variant, such as `width = 96, axis = model`."""
    return ", ".join(f"{name} = {value}" for name, value in variant.values.items())


def unknown_place(text: str, values: Mapping[str, object]) -> str | None:
    """Say what is wrong with the first place of a text that these values cannot fill; None if they fill all."""
    try:
        fill(text, values)
    except KeyError as unknown:
        return f"no variant has a value '{unknown.args[0]}'"
    except ValueError:
        return "a text cannot be shown as bytes"
    return None


def _bound(package: Package, variant: VariantSpec) -> Package:
    template = package.template or package

    def filled(text: str) -> str:
        return fill(text, variant.values)

    return replace(
        template,
        statement=filled(template.statement),
        hints=tuple(map(filled, template.hints)),
        editorial=filled(template.editorial),
        starter=filled(template.starter),
        helpers={**template.helpers, MODULE: module_text(variant)},
        accepted=tuple(each for each in template.accepted if variant.name in (each.variants or (variant.name,))),
        rejected=tuple(each for each in template.rejected if variant.name in (each.variants or (variant.name,))),
        known=package.known,
        pictures=package.pictures,
        variant=variant,
        template=template,
    )


def _missing(package: Package, name: str | None) -> str:
    names = ", ".join(f"'{each.name}'" for each in variants_of(package.manifest))
    if not names:
        return f"{package.slug} has no variants, so none is called '{name}'"
    if name is None:
        return f"{package.slug} has the variants {names}, and none of them was named"
    return f"{package.slug} has no variant '{name}'; it has {names}"
