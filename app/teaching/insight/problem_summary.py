"""Statistics of a problem, from the facts of its attempts: pure functions, so each number can be tested by hand."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from app.core.view import View
from app.teaching.insight.attempt_facts import AttemptFacts
from app.teaching.insight.discrimination import Discrimination, discriminations
from grader.core.reasons import Reason

_MOST_CLUSTERS = 10
# From the label to the most attempts that it stands for.
_STEPS = (("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6 to 10", 10), ("11 to 20", 20), ("more", 10**9))


class Stop(View):
    """`attempts` of `people` failed here. `stuck` of them have not solved the problem, and it is their last attempt."""

    name: str
    attempts: int
    people: int
    stuck: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rejected attempts that no known misconception explains, and that are wrong in the same way.

    That is the same reason, the same first failed check, and the same `signs`: what was measured. If nothing more was
    measured, they have the same failed cases. `cases` and `example` are those of the latest. `key` names the cluster.
    """

    key: str
    reason: Reason | None
    check: str
    signs: tuple[str, ...]
    cases: tuple[str, ...]
    attempts: int
    people: int
    example_user: str
    example: str


@dataclass(frozen=True, slots=True)
class Summary:
    """`attempts_to_solve` is (label, people) for each step. `median_*` are None until someone has solved it.

    `rejected` counts attempts at the served version. Only these tell where attempts stop: another version may have
    other checks and cases. `never_failed` is None while it is not known which cases there are, and `discrimination` is
    empty.
    """

    people: int
    solved: int
    graded: int
    accepted: int
    attempts_to_solve: tuple[tuple[str, int], ...]
    median_attempts: float | None
    median_time: timedelta | None
    rejected: int
    checks: tuple[Stop, ...]
    cases: tuple[Stop, ...]
    misconceptions: tuple[Stop, ...]
    never_failed: tuple[str, ...] | None
    discrimination: tuple[Discrimination, ...]
    unexplained: int
    clusters: tuple[Cluster, ...]

    @property
    def solved_share(self) -> float | None:
        return self.solved / self.people if self.people else None

    @property
    def accepted_share(self) -> float | None:
        return self.accepted / self.graded if self.graded else None


def summarize(
    facts: Sequence[AttemptFacts], version: str, cases: Sequence[str] | None, checks: Sequence[str] = ()
) -> Summary:
    """`facts` are in the order of time. `cases` and `checks` are all ids of the served version, if they are known."""
    by_person: dict[str, list[AttemptFacts]] = defaultdict(list)
    for each in facts:
        by_person[each.user_id].append(each)
    tries, times = [], []
    for sent in by_person.values():
        first = next((place for place, each in enumerate(sent) if each.is_accepted), None)
        if first is not None:
            tries.append(1 + sum(each.is_rejected for each in sent[:first]))
            times.append(sent[first].created_at - sent[0].created_at)
    solvers = {each.user_id for each in facts if each.is_accepted}
    rejected = [each for each in facts if each.is_rejected and each.version == version]
    last = {each.user_id: each.id for each in rejected if each.user_id not in solvers}
    stuck = frozenset(last.values())
    failed_cases = {case for each in rejected for case in each.failed_cases}
    unexplained = [each for each in rejected if each.misconception is None]
    accepted = sum(each.is_accepted for each in facts)
    return Summary(
        people=len(by_person),
        solved=len(solvers),
        graded=accepted + sum(each.is_rejected for each in facts),
        accepted=accepted,
        attempts_to_solve=_steps(tries),
        median_attempts=median(tries) if tries else None,
        median_time=timedelta(seconds=median(each.total_seconds() for each in times)) if times else None,
        rejected=len(rejected),
        checks=_stops(((each.failed_checks[0], each) for each in rejected if each.failed_checks), stuck),
        cases=_stops(((case, each) for each in rejected for case in each.failed_cases), stuck),
        misconceptions=_stops(((each.misconception, each) for each in rejected if each.misconception), stuck),
        never_failed=None if cases is None else tuple(case for case in cases if case not in failed_cases),
        discrimination=discriminations(facts, version, cases, checks) if cases is not None else (),
        unexplained=len(unexplained),
        clusters=_clusters(unexplained),
    )


def _steps(tries: Iterable[int]) -> tuple[tuple[str, int], ...]:
    counts = Counter(next(label for label, most in _STEPS if each <= most) for each in tries)
    return tuple((label, counts[label]) for label, _ in _STEPS)


def _stops(found: Iterable[tuple[str, AttemptFacts]], stuck: frozenset[str]) -> tuple[Stop, ...]:
    """The most frequent first."""
    by_name: dict[str, list[AttemptFacts]] = defaultdict(list)
    for name, each in found:
        by_name[name].append(each)
    stops = [
        Stop(
            name=name,
            attempts=len(each),
            people=len({one.user_id for one in each}),
            stuck=sum(one.id in stuck for one in each),
        )
        for name, each in by_name.items()
    ]
    return tuple(sorted(stops, key=lambda stop: (-stop.attempts, stop.name)))


def _clusters(unexplained: Iterable[AttemptFacts]) -> tuple[Cluster, ...]:
    alike: dict[str, list[AttemptFacts]] = defaultdict(list)
    for each in unexplained:
        alike[_key(each)].append(each)
    clusters = [_cluster(key, each) for key, each in alike.items()]
    return tuple(sorted(clusters, key=lambda one: (-one.people, -one.attempts, one.check, one.key))[:_MOST_CLUSTERS])


def _key(attempt: AttemptFacts) -> str:
    """Equal for attempts of one cluster. Hidden cases do not separate what was measured in a public one."""
    same = [attempt.version, attempt.reason, attempt.failed_checks[:1]]
    same += [attempt.fingerprint] if attempt.fingerprint else [attempt.failed_cases]
    return hashlib.sha256(json.dumps(same).encode()).hexdigest()[:16]


def _cluster(key: str, attempts: Sequence[AttemptFacts]) -> Cluster:
    latest = attempts[-1]
    return Cluster(
        key=key,
        reason=latest.reason,
        check=latest.failed_checks[0] if latest.failed_checks else "",
        signs=latest.signs,
        cases=latest.failed_cases,
        attempts=len(attempts),
        people=len({each.user_id for each in attempts}),
        example_user=latest.user_id,
        example=latest.id,
    )


def cluster_of(facts: Sequence[AttemptFacts], version: str, key: str) -> tuple[Cluster, list[AttemptFacts]] | None:
    """The cluster with this key, and its attempts, oldest first. None if no attempt is in it."""
    unexplained = [each for each in facts if each.is_rejected and each.version == version and not each.misconception]
    found = [each for each in unexplained if _key(each) == key]
    return (_cluster(key, found), found) if found else None
