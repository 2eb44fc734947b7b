"""What the columns of a roster mean: our own names, and those of the exports of Canvas and Moodle."""

from typing import Literal, get_args

Field = Literal[
    "username",
    "name",
    "given_name",
    "family_name",
    "email",
    "student_number",
    "login",
    "external_id",
    "section",
    "role",
]
FIELDS: tuple[Field, ...] = get_args(Field)
# By the name of the column in lower case, with spaces for underscores and hyphens.
_COLUMNS: dict[str, Field] = {
    "username": "username",
    "name": "name",
    "full name": "name",
    "student": "name",
    "student name": "name",
    "first name": "given_name",
    "firstname": "given_name",
    "given name": "given_name",
    "given names": "given_name",
    "vorname": "given_name",
    "last name": "family_name",
    "lastname": "family_name",
    "surname": "family_name",
    "family name": "family_name",
    "nachname": "family_name",
    "email": "email",
    "e mail": "email",
    "email address": "email",
    "e mail address": "email",
    "e mail adresse": "email",
    "id number": "student_number",
    "id nummer": "student_number",
    "number": "student_number",
    "student number": "student_number",
    "student id": "student_number",
    "sis id": "student_number",
    "sis user id": "student_number",
    "matriculation number": "student_number",
    "matrikelnummer": "student_number",
    "login": "login",
    "login id": "login",
    "sis login id": "login",
    "section": "section",
    "sections": "section",
    "group": "section",
    "groups": "section",
    "gruppe": "section",
    "gruppen": "section",
    "role": "role",
    "roles": "role",
}
# In a file with one of these, `Username` is the name at the learning platform. There may be an account here with the
# same name that belongs to someone else.
_OF_PLATFORMS = frozenset(
    {"student", "sis user id", "sis login id", "sis id", "id number", "id nummer", "email address", "first name"}
) | frozenset({"e mail adresse", "surname", "last name", "vorname", "nachname", "roles"})
_CANVAS = frozenset({"student", "id"})
EXAMPLE = "name,email,student number,section"


def field_of(heads: list[str]) -> list[Field | None]:
    """The meaning of each column; None for one that is ignored."""
    names = [normal_head(each) for each in heads]
    fields = [_COLUMNS.get(each) for each in names]
    if _CANVAS.issubset(names):
        fields = ["external_id" if name == "id" else field for name, field in zip(names, fields, strict=True)]
    if not _OF_PLATFORMS.isdisjoint(names):
        fields = ["login" if field == "username" else field for field in fields]
    return fields


def is_of_canvas(heads: list[str]) -> bool:
    return _CANVAS.issubset(normal_head(each) for each in heads)


def normal_head(head: str) -> str:
    return " ".join(head.lower().replace("_", " ").replace("-", " ").split())
