"""`meshgrade install-tpu`: the wrapper installs libtpu before this runs; this only reports it."""

from app.entry.cli.installed_compiler import report_compiler

HELP = (
    "Install libtpu, the compiler for TPUs, so that the Explorer can compile for slices of TPUs. It takes 0.7 GB, "
    "under the terms of Google Cloud."
)


def install_tpu() -> None:
    report_compiler("tpu")
