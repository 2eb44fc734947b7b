"""The similarity report as CSV: a row for each pair, and one for the first of a group with each of its others."""

from collections.abc import Iterator

from starlette.responses import Response

from app.teaching.courses.safe_csv import csv_download
from app.teaching.identities.identity import RosterIdentity
from app.teaching.similarity.service import SimilarityReport
from app.teaching.similarity.submissions import Submission

_HEAD = (
    "student",
    "real name",
    "email",
    "student number",
    "section",
    "attempt",
    "score",
    "accepted",
    "sent at",
    "earlier tries",
    "draft saves",
)


def report_download(slug: str, report: SimilarityReport) -> Response:
    return csv_download(f"similarity-{slug}.csv", _rows(report))


def _rows(report: SimilarityReport) -> Iterator[list[object]]:
    yield ["share", "weight", "minutes apart", *(f"{name} {number}" for number in (1, 2) for name in _HEAD)]
    for group in report.groups:
        for each in group[1:]:
            yield ["identical", None, _minutes(group[0], each), *_cells(group[0]), *_cells(each)]
    for pair in report.pairs:
        share, weight = round(pair.share, 4), round(pair.weight, 1)
        yield [share, weight, _minutes(pair.one, pair.other), *_cells(pair.one), *_cells(pair.other)]


def _minutes(one: Submission, other: Submission) -> int:
    return round(abs(one.sent_at - other.sent_at).total_seconds() / 60)


def _cells(each: Submission) -> list[object]:
    accepted = "yes" if each.is_accepted else "no"
    sent_at = each.sent_at.isoformat(timespec="seconds")
    who = each.identity or RosterIdentity()
    person = [who.name, who.email, who.student_number, who.section]
    return [each.name, *person, each.attempt_id, each.score, accepted, sent_at, each.earlier, each.saves]
