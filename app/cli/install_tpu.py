"""`meshgrade install-tpu`: the wrapper has installed libtpu before this runs; what is left is to say so."""

import typer

from app.start_errors import StartRefused
from grader.chips import tpu_compiler

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Install libtpu, the compiler for TPUs, so that the Explorer can compile for slices of TPUs. It takes 0.7 GB, "
    "under the terms of Google Cloud."
)
def install_tpu() -> None:
    version = tpu_compiler()
    if version is None:
        raise StartRefused("libtpu is not installed", "Call ./meshgrade install-tpu in a checkout, which installs it.")
    print(f"libtpu {version} is installed. Restart a running server, and the Explorer compiles for TPUs.")
