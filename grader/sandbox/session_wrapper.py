"""A session around another one, for classes that add something to each request."""

from typing import Self

from grader.core.wire import Message
from grader.sandbox.protocol import Output, Requests, Session
from grader.verdicts.package_study import Spent


class SessionWrapper(Requests):
    """Passes everything but `request` on to the wrapped session, which its owner closes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def forgive(self, seconds: float) -> None:
        self._session.forgive(seconds)

    @property
    def alive(self) -> bool:
        return self._session.alive

    @property
    def environment(self) -> Message:
        return self._session.environment

    @property
    def spent(self) -> Spent:
        return self._session.spent

    def seal_output(self) -> None:
        self._session.seal_output()

    def output(self) -> Output:
        return self._session.output()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""
