"""What explorations without an account may compile."""

from app.core.errors import NotSignedIn
from grader.core.chips import ChipName

MAX_DEVICES = 8


def refuse_large(devices: int, chip: ChipName | None) -> None:
    """Raises `NotSignedIn` if only someone with an account may explore it."""
    if devices > MAX_DEVICES:
        raise NotSignedIn(
            f"Without an account, a mesh may have {MAX_DEVICES} devices, and this one has {devices}. Nothing was "
            "explored. Sign in, or choose a smaller mesh."
        )
    if chip is not None:
        raise NotSignedIn("Without an account, nothing is compiled for chips. Sign in, or compile it for host devices.")
