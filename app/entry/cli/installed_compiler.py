"""What `meshgrade install-gpu` and `install-tpu` report: the wrapper installs the compiler before they run."""

from app.core.start_errors import StartRefused
from grader.core.chips import Platform, compiler_of


def report_compiler(platform: Platform) -> None:
    """Print the installed compiler. Raises `StartRefused` if there is none."""
    compiler, chips = compiler_of(platform), f"{platform.upper()}s"
    if compiler is None:
        raise StartRefused(
            f"the compiler for {chips} is not installed", f"Run ./meshgrade install-{platform} in a checkout."
        )
    print(f"{compiler} is installed. Restart a running server to let the Explorer compile for {chips}.")
