"""Which variant of a problem someone gets: drawn from the deployment's secret, the problem and the account."""

from app.core.errors import RoleMissing, VariantNotFound
from app.core.stable_draw import drawn, key_of
from grader.package.package import Package
from grader.package.variants import VariantMissing, of_variant, variants_of


class VariantDraws:
    """Safe to share between requests."""

    def __init__(self, deployment_secret: bytes) -> None:
        self._key = key_of(deployment_secret, "variants of problems")

    def seen_by(self, account: str, package: Package) -> Package:
        """The package in the account's variant. It stays the same in all versions that have a variant of this name."""
        names = [each.name for each in variants_of(package.manifest)]
        return of_variant(package, drawn(self._key, f"{package.manifest.uuid} {account}", names)) if names else package


def chosen_variant(package: Package, name: str, *, is_staff: bool) -> Package:
    """The package in the variant that an instructor names.

    Raises:
      VariantNotFound.
      RoleMissing: students have the variant that was drawn for them.
    """
    if variants_of(package.manifest) and not is_staff:
        raise RoleMissing("Only instructors choose a variant. Leave it out to get your own.")
    try:
        return of_variant(package, name)
    except VariantMissing as missing:
        raise VariantNotFound(f"{str(missing)[:300]}.") from None
