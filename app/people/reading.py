"""Who may read whose attempts: an instructor those of students, an owner everybody's. Nobody else reads others'."""

from app.accounts.caller import User
from app.attempts.service import AttemptView
from app.errors import AttemptNotFound, RoleMissing
from app.people.listing import Directory, Person
from app.people.services import PeopleServices


def may_read(reader: User, person: Person) -> bool:
    return reader.role == "owner" or (reader.role == "instructor" and person.role == "student")


async def readable(directory: Directory, reader: User, person_id: str) -> tuple[Person, User]:
    """The person, and the same as a user, whose attempts `reader` may read.

    Raises:
      PersonNotFound.
      RoleMissing: this reader may not.
    """
    person = await directory.get(person_id)
    if not may_read(reader, person):
        raise RoleMissing(
            f"An instructor reads the attempts of students, and an owner everybody's. {person.name} has the role "
            f"{person.role}, and you have {reader.role}."
        )
    return person, User(person.id, person.name, person.role)


async def attempt_of(
    services: PeopleServices, reader: User, person_id: str, attempt_id: str
) -> tuple[Person, AttemptView]:
    """A person whose attempts `reader` may read, and one of these. Raises as `readable` does, and `AttemptNotFound`."""
    person, owner = await readable(services.directory, reader, person_id)
    try:
        return person, await services.attempts.get(owner, attempt_id, placed=False)
    except AttemptNotFound:
        raise AttemptNotFound(f"{owner.name} has no attempt with the id {attempt_id[:64]!r}.") from None
