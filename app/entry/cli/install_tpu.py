"""`meshgrade install-tpu`: the wrapper installs libtpu before this runs; this only reports it."""

import typer

from app.core.start_errors import StartRefused
from grader.core.chips import tpu_compiler

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Install libtpu, the compiler for TPUs, so that the Explorer can compile for slices of TPUs. It takes 0.7 GB, "
    "under the terms of Google Cloud."
)
def install_tpu() -> None:
    version = tpu_compiler()
    if version is None:
        raise StartRefused("libtpu is not installed", "Run ./meshgrade install-tpu in a checkout.")
    print(f"libtpu {version} is installed. Restart a running server to let the Explorer compile for TPUs.")
