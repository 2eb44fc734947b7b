"""`meshgrade problem pull`: writes a package that a server stores to a folder."""

from pathlib import Path
from typing import Annotated

import typer

from app.core.errors import BodyNotZip, PackageRefused
from app.core.start_errors import ServerUnusable, StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from app.entry.cli.remote.versions import full_version

HELP = "Write the package of a problem on the server to a new folder: the published version, or another one."


def pull(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to create the folder SLUG. Default: the problems folder.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="At least its first 6 characters. Default: the published one.")
    ] = None,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    from app.core.settings import load_settings
    from app.entry.cli.problem_new import require_new, write_package

    folder = (into or load_settings().problems) / slug
    require_new(slug, folder)
    with connected(server, insecure=insecure) as there:
        chosen = full_version(there, slug, version, published=True)
        data = there.download(slug, chosen)
        address = there.address
    write_package(folder, _files(data, chosen, slug, address))
    print(f"Wrote {folder}, version {chosen[:12]}.")


def _files(data: bytes, version: str, slug: str, address: str) -> dict[str, str]:
    """The files of the package.

    The server is not trusted: names must be those of a package, and the hash must match.
    """
    from app.authoring.package_zip import files_of
    from grader.package.fault import PackageInvalid
    from grader.review.reader import package_of

    try:
        package = package_of(slug, files_of(data), is_stored=True)
    except (BodyNotZip, PackageRefused, PackageInvalid) as error:
        raise ServerUnusable(
            f"{address} did not send a package: {error}", "Check the address. Nothing was written."
        ) from None
    if package.version != version:
        raise StartRefused(
            f"{address} sent version {package.version[:12]} instead of {version[:12]}.",
            "Try again. Nothing was written.",
        )
    return package.files
