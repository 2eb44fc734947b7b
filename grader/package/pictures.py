"""Which picture of a package may be shown: one that was made from these files, by this version of JAX."""

import hashlib
import importlib.metadata
from functools import cache, lru_cache

from grader.package.package import Package
from grader.verdicts.pictures import Picture

PICTURES = "pictures.json"


def picture_of(package: Package) -> Picture | None:
    """The picture that ships with this variant, if it was made by this version of JAX from these files."""
    pictures = package.pictures
    if pictures is None or pictures.jax != _this_jax():
        return None
    found = pictures.variants.get(package.variant_name or "")
    return found if found is not None and found.of == drawn_from(package) else None


def drawn_from(package: Package) -> str:
    """A hash of what decides the picture of a package; see `Picture.of`."""
    manifest = package.manifest
    program = manifest.program.model_dump_json(exclude={"groups"}) if manifest.mode == "program" else ""
    parts = [manifest.mode, manifest.entry, str(manifest.devices), program, package.cases, package.starter]
    parts += [package.reference, *(part for helper in sorted(package.helpers.items()) for part in helper)]
    return _digest_of(tuple(parts))


# Each page of a problem asks. A text knows its own hash, so finding it again is quicker than reading it.
@lru_cache(maxsize=256)
def _digest_of(parts: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()[:16]


# Finding it reads a file.
@cache
def _this_jax() -> str:
    return importlib.metadata.version("jax")
