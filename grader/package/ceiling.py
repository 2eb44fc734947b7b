"""The highest limits that a package can set. Authors choose limits, but the machine is the operator's."""

from dataclasses import asdict, dataclass

from grader.package.fault import PackageFault, manifest_fault
from grader.package.package import Limits

_UNITS = {"time_s": "CPU seconds", "wall_s": "seconds", "memory_mb": "MiB", "output_mb": "MiB"}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The highest value of each entry of `[limits]`: seconds, and MiB. docs/settings.md says how to change them."""

    time_s: float = 120.0
    wall_s: float = 300.0
    memory_mb: int = 4096
    output_mb: int = 128

    def faults(self, limits: Limits) -> list[PackageFault]:
        """One fault for each limit that is above the ceiling."""
        return [
            manifest_fault(
                "limit",
                f"limits.{name}",
                f"limits.{name} is {getattr(limits, name):g}; this service permits at most {most:g} {_UNITS[name]}. "
                f"Lower it, or have the operator raise MESHGRADE_PACKAGE_{name.upper()}",
            )
            for name, most in asdict(self).items()
            if getattr(limits, name) > most
        ]

    def clamp(self, limits: Limits) -> Limits:
        """Lower the limits to the ceiling, for a version that was stored under a higher ceiling."""
        return limits.model_copy(update={name: min(getattr(limits, name), most) for name, most in asdict(self).items()})
