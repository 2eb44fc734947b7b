"""How the verifier says no to a program."""


class Refused(Exception):
    """The program is not one that may be judged. `reason` is of the judge's closed list."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
