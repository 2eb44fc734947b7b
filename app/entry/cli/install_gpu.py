"""`meshgrade install-gpu`: the wrapper installs XLA's compiler for GPUs before this runs; this only reports it."""

from app.entry.cli.installed_compiler import report_compiler

HELP = (
    "Install XLA's compiler for NVIDIA GPUs, so that the Explorer can compile for H100s and other GPUs. It takes "
    "0.5 GB, and needs no GPU, driver or CUDA."
)


def install_gpu() -> None:
    report_compiler("gpu")
