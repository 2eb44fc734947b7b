"""The error with which the verifier refuses a program."""


class ProgramRefused(Exception):
    """The verifier cannot grade the program. `reason` is from the judge's closed list."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class OnlyOnChips(ProgramRefused):
    """XLA cannot compile the program for CPUs."""

    def __init__(self, target: str) -> None:
        super().__init__(
            "not_exportable",
            f"XLA does not compile `{target}` for CPUs, only for GPUs and TPUs. Use `jax.lax.all_to_all` with parts of "
            "equal size, padded to a capacity.",
        )
