"""Which problem of a pool a student gets: drawn from the deployment's secret, and never stored.

Each student has a number for each problem that nobody without the secret can compute, and gets the problem with the
largest. So a draw stays the same whenever it is looked up, all problems of a pool are drawn about equally often, and a
change of a pool moves only those students to whom the change means something.
"""

from collections.abc import Sequence

from app.core.stable_draw import drawn, key_of


class ExamPools:
    """Safe to share between requests."""

    def __init__(self, deployment_secret: bytes) -> None:
        self._key = key_of(deployment_secret, "exam pools")

    def drawn(self, assignment_id: str, user_id: str, problems: Sequence[str]) -> str:
        """The one of these problems that the student gets, in whichever order they are given."""
        return drawn(self._key, f"{assignment_id} {user_id}", problems)
