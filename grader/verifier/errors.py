"""The error with which the verifier refuses a program."""


class ProgramRefused(Exception):
    """The verifier cannot grade the program. `reason` is from the judge's closed list."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
