"""The compilers for chips that are installed: what `install-gpu` and `install-tpu` report, and `--chip` needs."""

from app.core.start_errors import StartRefused
from grader.core.chips import CHIPS, ChipName, Platform, compiler_of


def report_compiler(platform: Platform) -> None:
    """Print the installed compiler. Raises `StartRefused` if there is none."""
    compiler = _compiler(platform)
    print(f"{compiler} is installed. Restart a running server to let the Explorer compile for {platform.upper()}s.")


def require_compiler(chip: ChipName | None) -> None:
    """Refuse to start if the program cannot be compiled for this chip, instead of saying so below minutes of work.

    Raises:
      StartRefused: the compiler for the chip is not installed.
    """
    if chip is not None:
        _compiler(CHIPS[chip].platform)


def _compiler(platform: Platform) -> str:
    compiler = compiler_of(platform)
    if compiler is None:
        raise StartRefused(
            f"the compiler for {platform.upper()}s is not installed",
            f"Run `./meshgrade install-{platform}` in a checkout.",
        )
    return compiler
