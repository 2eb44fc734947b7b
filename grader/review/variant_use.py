"""Check that the files of a package use its variants and their values by their names."""

import re
from collections.abc import Iterator, Mapping, Sequence

from grader.package.fault import PackageFault
from grader.package.package import KnownSubmission, Manifest
from grader.package.variants import MODULE, TEXTS, unknown_place, variants_of
from grader.review.helper_files import FOLDER
from grader.review.names import suggest

# A line of a shipped submission that is not for every variant.
_NAMED = re.compile(r"^# variants:(.*)$", re.MULTILINE)


def named_variants(source: str) -> tuple[str, ...]:
    """The variants that a shipped submission names in a comment; empty if it names none."""
    found = _NAMED.search(source)
    return tuple(name.strip() for name in found[1].split(",")) if found else ()


def naming(variant: str) -> str:
    """Return the comment that restricts a shipped submission to one variant."""
    return f"# variants: {variant}"


def wrong_variants(
    manifest: Manifest, files: Mapping[str, str], submissions: Sequence[KnownSubmission]
) -> list[PackageFault]:
    """Find unknown values in texts, unknown variants in submissions, and a file that hides the module of the values."""
    return list(_faults(manifest, files, submissions))


def _faults(
    manifest: Manifest, files: Mapping[str, str], submissions: Sequence[KnownSubmission]
) -> Iterator[PackageFault]:
    variants = variants_of(manifest)
    if not variants:
        return
    for file in TEXTS:
        for number, line in enumerate(files.get(file, "").splitlines(), 1):
            if unknown := unknown_place(line, variants[0].values):
                yield PackageFault("variant", file, number, f"{file}: {unknown}")
    own = f"{FOLDER}{MODULE}.py"
    if own in files:
        yield PackageFault("variant", own, None, f"{own} would hide the module that has the values of the variant")
    known = [each.name for each in variants]
    for each in submissions:
        file = f"submissions/{'accepted' if each.reason is None else 'rejected'}/{each.name}.py"
        for name in each.variants:
            if name not in known:
                message = f"{file} names the variant '{name}', which does not exist{suggest(name, known)}"
                yield PackageFault("variant", file, None, message)
