"""What a user may do (role), and how much of that one of their tokens may do (scope)."""

from typing import Literal, get_args

Role = Literal["student", "instructor", "owner"]
# Each role includes the ones before it.
ROLES: tuple[Role, ...] = get_args(Role)

Scope = Literal["read", "submit", "account", "instruct"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
SCOPE_MEANINGS: dict[Scope, str] = {
    "read": "read all of your data",
    "submit": "run, submit and cancel",
    "account": "tokens, invitations, webhooks, export, deletion; for owners, accounts of others",
    "instruct": "what instructors may do to problems and courses, and read of people",
}


def is_at_least(role: Role, minimum: Role) -> bool:
    return ROLES.index(role) >= ROLES.index(minimum)
