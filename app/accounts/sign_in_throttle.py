"""Slows down anyone who guesses passwords.

One count is for a name together with an address, and one for an address alone. There is none for a name alone, because
then anyone could lock its owner out everywhere. A try counts before its password is checked, or a burst would slip
through.
"""

from datetime import timedelta

from app.accounts.errors import TooManySignIns
from app.core.database import Database
from app.core.limits import DAY, Limit, count, forget, network_of, take_back

_SENTENCE = "Too many sign-ins from your address failed. Try again in {wait}."


class Throttle:
    """Safe to share between requests and between servers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, name: str, address: str, sentence: str = _SENTENCE) -> None:
        """Count a try as failed, unless `forgive` follows. Raises `TooManySignIns`, and then counts nothing.

        Args:
          sentence: what the error says; `{wait}` in it is the time until the next try.
        """
        async with self._database.writing() as session:
            await count(session, *_failures(name, address, sentence))

    async def forgive(self, name: str, address: str) -> None:
        """The try succeeded: reset the count of the name at this address, and subtract this try from the address's."""
        of_the_name, of_the_address = _failures(name, address)
        async with self._database.writing() as session:
            await forget(session, *of_the_name)
            await take_back(session, *of_the_address)


def _failures(name: str, address: str, sentence: str = _SENTENCE) -> tuple[tuple[Limit, str], tuple[Limit, str]]:
    network = network_of(address)
    by_name = Limit("sign-in by name", DAY, 5, TooManySignIns, sentence, longest_pause=timedelta(minutes=15))
    # Many people can share an address, so it waits later and for a shorter time.
    by_address = Limit("sign-in by address", DAY, 100, TooManySignIns, sentence, longest_pause=timedelta(seconds=10))
    return (by_name, f"{name}\0{network}"), (by_address, network)
