"""What a student needs to sit an exam: to start it, with its password and from its network, and within their time."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from app.core.clock import end_of_minute
from app.core.errors import FieldInvalid
from app.teaching.courses.errors import AddressRefused, ExamNotStarted, ExamTimeOver
from app.teaching.courses.models import AssignmentRow

LONGEST_DURATION = 7 * 24 * 60
MOST_NETWORKS = 50
_SEPARATORS = re.compile(r"[\s,]+")


def needs_start(row: AssignmentRow) -> bool:
    """Whether each student has to start this exam. A rule of `app.teaching.courses.service.Assignment`, too."""
    return row.is_exam and (row.duration_minutes is not None or bool(row.password_hash) or bool(row.addresses))


def ends_at(due_at: datetime, duration_minutes: int | None, extra_minutes: int, started_at: datetime) -> datetime:
    """When the time of one student is over: the first moment that is too late."""
    extra = timedelta(minutes=extra_minutes)
    last = end_of_minute(due_at + extra)
    return last if duration_minutes is None else min(last, started_at + timedelta(minutes=duration_minutes) + extra)


def read_networks(field: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Networks such as 192.0.2.0/24, as they are stored. Raises `FieldInvalid`."""
    if len(texts) > MOST_NETWORKS:
        raise FieldInvalid(f"{field}: give at most {MOST_NETWORKS} networks.")
    return tuple(str(_network(field, each)) for each in texts)


def split_networks(text: str) -> list[str]:
    """What was typed into a field, separated by spaces, commas or lines."""
    return [each for each in _SEPARATORS.split(text) if each]


def is_within(address: str, networks: Sequence[str]) -> bool:
    """Whether a client is in one of these networks. Without networks, every client is."""
    if not networks:
        return True
    try:
        found = ip_address(address)
    except ValueError:  # a Unix socket has no address
        return False
    # A dual-stack socket writes IPv4 as ::ffff:192.0.2.1.
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    return any(found in ip_network(each) for each in networks)


def require_address(exam: str, address: str, networks: Sequence[str]) -> None:
    """Raises `AddressRefused`."""
    if not is_within(address, networks):
        raise AddressRefused(
            f"{exam} is open only from certain networks, and your address {address[:64] or '(unknown)'} is in none of "
            "them. Use a computer of the room in which it takes place, or ask your instructor."
        )


def require_time(
    exam: str,
    row: AssignmentRow,
    due_at: datetime,
    extra_minutes: int,
    started_at: datetime | None,
    moment: datetime,
) -> None:
    """`due_at` is that of the student's section. Raises `ExamNotStarted` and `ExamTimeOver`."""
    if started_at is None:
        raise ExamNotStarted(f"Start {exam} on its page first: /courses/{row.course_id}/assignments/{row.id}/exam")
    end = ends_at(due_at, row.duration_minutes, extra_minutes, started_at)
    if moment >= end:
        raise ExamTimeOver(
            f"Your time for {exam} is over. What you submitted in time counts.", ended_at=end.isoformat()
        )


def _network(field: str, text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise FieldInvalid(f"{field}: {text[:60]!r} is not a network such as 192.0.2.0/24: {error}.") from None
