"""Statistics of a problem, from the facts of its attempts: pure functions, so each number can be tested by hand."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from types import MappingProxyType

from app.core.view import View
from app.grading.attempts.solved_counts import FEWEST_TOLD
from app.teaching.insight.attempt_facts import AttemptFacts
from app.teaching.insight.discrimination import Discrimination, discriminations
from grader.core.reasons import Reason

_MOST_CLUSTERS = 10
# From the label to the most attempts that it stands for.
_STEPS = (("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6 to 10", 10), ("11 to 20", 20), ("more", 10**9))


@dataclass(frozen=True, slots=True)
class Items:
    """The ids of all cases and all checks of a version."""

    cases: tuple[str, ...]
    checks: tuple[str, ...]

    def missing(self, cases: Iterable[str], checks: Iterable[str]) -> frozenset[str]:
        """Those that this version does not have."""
        return frozenset(cases) - frozenset(self.cases) | frozenset(checks) - frozenset(self.checks)


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
class CommonFault:
    """The fault that most people had: a known misconception, or else what attempts of a cluster have in common.

    `example` is the latest such attempt.
    """

    attempts: int
    people: int
    example: str


class CountedVersion(View):
    """A version that is counted, with its scored attempts."""

    version: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Summary:
    """`versions` are those that are counted. `attempts_to_solve` is (label, people) for each step. `median_*` are None
    until someone has solved it.

    `common_fault` is None if fewer than `FEWEST_TOLD` people had the same fault, so that it says nothing about one of
    them.

    `checks` and `cases` have only those of the served version; those that only failed in others are in
    `left_out`. `never_failed` is None while it is not known which cases there are, and `discrimination` is empty.
    """

    versions: tuple[CountedVersion, ...]
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
    left_out: tuple[str, ...]
    misconceptions: tuple[Stop, ...]
    never_failed: tuple[str, ...] | None
    discrimination: tuple[Discrimination, ...]
    unexplained: int
    clusters: tuple[Cluster, ...]
    common_fault: CommonFault | None

    @property
    def solved_share(self) -> float | None:
        return self.solved / self.people if self.people else None

    @property
    def accepted_share(self) -> float | None:
        return self.accepted / self.graded if self.graded else None


def summarize(
    facts: Sequence[AttemptFacts], version: str, items: Mapping[str, Items] = MappingProxyType({})
) -> Summary:
    """`facts` are in the order of time, and all of them count. `version` is the served one.

    `items` has the cases and checks of each version for which they are known.
    """
    served = items.get(version)
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
    rejected = [each for each in facts if each.is_rejected]
    last = {each.user_id: each.id for each in rejected if each.user_id not in solvers}
    stuck = frozenset(last.values())
    failed_cases = {case for each in rejected for case in each.failed_cases}
    unexplained = [each for each in rejected if each.misconception is None]
    accepted = sum(each.is_accepted for each in facts)
    first_checks = [(each.failed_checks[0], each) for each in rejected if each.failed_checks]
    each_case = [(case, each) for each in rejected for case in each.failed_cases]
    gone = served.missing(failed_cases, {name for name, _ in first_checks}) if served else frozenset()
    return Summary(
        versions=_versions(facts),
        people=len(by_person),
        solved=len(solvers),
        graded=accepted + sum(each.is_rejected for each in facts),
        accepted=accepted,
        attempts_to_solve=_steps(tries),
        median_attempts=median(tries) if tries else None,
        median_time=timedelta(seconds=median(each.total_seconds() for each in times)) if times else None,
        rejected=len(rejected),
        checks=_stops(first_checks, stuck, served.checks if served else None),
        cases=_stops(each_case, stuck, served.cases if served else None),
        left_out=tuple(sorted(gone)),
        misconceptions=_stops(((each.misconception, each) for each in rejected if each.misconception), stuck),
        never_failed=None if served is None else tuple(case for case in served.cases if case not in failed_cases),
        discrimination=()
        if served is None
        else discriminations(facts, _comparable(served, items), served.cases, served.checks),
        unexplained=len(unexplained),
        clusters=_clusters(unexplained),
        common_fault=_common_fault(rejected),
    )


def _versions(facts: Sequence[AttemptFacts]) -> tuple[CountedVersion, ...]:
    """The one with the latest attempt first."""
    counts = Counter(each.version for each in facts if each.is_accepted or each.is_rejected)
    newest_first = dict.fromkeys(each.version for each in reversed(facts) if each.version in counts)
    return tuple(CountedVersion(version=version, attempts=counts[version]) for version in newest_first)


def _comparable(served: Items, items: Mapping[str, Items]) -> frozenset[str]:
    """The versions with every case and check of the served one. In another, nobody could have failed a missing one."""
    return frozenset(version for version, each in items.items() if not each.missing(served.cases, served.checks))


def _steps(tries: Iterable[int]) -> tuple[tuple[str, int], ...]:
    counts = Counter(next(label for label, most in _STEPS if each <= most) for each in tries)
    return tuple((label, counts[label]) for label, _ in _STEPS)


def _stops(
    found: Iterable[tuple[str, AttemptFacts]], stuck: frozenset[str], only: Sequence[str] | None = None
) -> tuple[Stop, ...]:
    """The most frequent first. Other names than those in `only` are left out; None leaves out none."""
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
        if only is None or name in only
    ]
    return tuple(sorted(stops, key=lambda stop: (-stop.attempts, stop.name)))


def _clusters(unexplained: Iterable[AttemptFacts]) -> tuple[Cluster, ...]:
    alike: dict[str, list[AttemptFacts]] = defaultdict(list)
    for each in unexplained:
        alike[_key(each)].append(each)
    clusters = [_cluster(key, each) for key, each in alike.items()]
    return tuple(sorted(clusters, key=lambda one: (-one.people, -one.attempts, one.check, one.key))[:_MOST_CLUSTERS])


def _common_fault(rejected: Iterable[AttemptFacts]) -> CommonFault | None:
    alike: dict[str, list[AttemptFacts]] = defaultdict(list)
    for each in rejected:
        alike[each.misconception or _key(each)].append(each)
    found = [CommonFault(len(each), len({one.user_id for one in each}), each[-1].id) for each in alike.values()]
    common = [each for each in found if each.people >= FEWEST_TOLD]
    return max(common, key=lambda each: (each.people, each.attempts, each.example), default=None)


def _key(attempt: AttemptFacts) -> str:
    """Equal for attempts of one cluster, at any version: people go on making the mistake that a new version keeps.

    Hidden cases do not separate what was measured in a public one.
    """
    same: list[object] = [attempt.reason, attempt.failed_checks[:1]]
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


def cluster_of(facts: Sequence[AttemptFacts], key: str) -> tuple[Cluster, list[AttemptFacts]] | None:
    """The cluster with this key, and its attempts, oldest first. None if no attempt is in it."""
    unexplained = [each for each in facts if each.is_rejected and not each.misconception]
    found = [each for each in unexplained if _key(each) == key]
    return (_cluster(key, found), found) if found else None
