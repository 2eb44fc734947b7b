"""Known wrong submissions: a wrong one is looked up among their fingerprints, and few are ever run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.mistakes.known_mistakes import KnownMistakes, current, explain_stored, holds, known_text, updated
from grader.mistakes.likeliest_mistake import by_likelihood
from grader.package.package import KnownSubmission, Package
from grader.review.reader import package_of
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.fingerprint import Fingerprint, KnownFingerprints
from grader.verdicts.verdict import Verdict

LINES = ["x = x + 2", "x = 2 * x", "x = x - y", "x = abs(x) ** 3", "x = sum(x)"]
PUBLIC, HIDDEN = np.arange(8, dtype=np.float32), np.full(8, 5, np.float32)
Result = Callable[[np.ndarray], object]


def source_of(line: str) -> str:
    return f"import jax\n\n\ndef add_one(x):\n    y = jax.numpy.ones(3)\n    {line}\n    return x + y\n"


@pytest.fixture
def package(add_one: Package) -> Package:
    known = [
        KnownSubmission(f"wrong_value/{number}", source_of(line), "wrong_value", f"Mistake {number}.")
        for number, line in enumerate(LINES)
    ]
    return replace(add_one, rejected=tuple(known))


class Runners:
    """Known wrong submission `n` returns `x + 2 + n`, if `known` says nothing else; the submission returns `mine`."""

    def __init__(self, package: Package, mine: Result, known: dict[int, Result]) -> None:
        self.package, self.mine, self.known = package, mine, known
        self.run: list[str] = []
        self.loaded = ""

    def __call__(self, message: dict[str, Any], values: dict[str, Any]) -> Frame:
        ok = {"ok": True}
        match message["op"]:
            case "load":
                self.loaded = message["source"]
                self.run += [each.name for each in self.package.rejected if each.source == self.loaded]
                return ok, {}
            case "cases":
                return ok, {"cases": [{"x": PUBLIC if message["key"] is None else HIDDEN}]}
        (x,) = values["args"]
        return ok, {"result": self._result(x), "observed": []}

    def _result(self, x: np.ndarray) -> object:
        if self.loaded == self.package.reference:
            return x + 1
        for number, known in enumerate(self.package.rejected):
            if self.loaded == known.source:
                return self.known[number](x) if number in self.known else x + 2 + number
        return self.mine(x)


def judged(
    package: Package, folder: Path, line: str, mine: Result, known: dict[int, Result] | None = None, **options: Any
) -> tuple[Verdict, list[str]]:
    """The verdict on a submission, and the names of the known wrong submissions that were run for it."""
    runners = Runners(package, mine, known or {})
    judge = Judge(NullSandbox(runners), b"s", folder)
    return judge.judge(package, source_of(line) + "# submitted\n", **options), runners.run


@pytest.fixture
def shipped(package: Package, tmp_path: Path) -> Callable[..., Package]:
    """Makes the package with the fingerprints that judging its known wrong submissions gives."""

    def made(known: dict[int, Result] | None = None) -> Package:
        judge = Judge(NullSandbox(Runners(package, lambda x: x, known or {})), b"s", tmp_path / "made", known_runs=0)
        found = {each.name: judge.judge(package, each.source).fingerprint for each in package.rejected}
        return replace(package, known=updated(package, found))

    return made


@pytest.mark.parametrize("number", range(len(LINES)))
def test_the_likeliest_shares_what_the_others_do_not_have(package: Package, number: int) -> None:
    written = source_of(LINES[number]).replace("y", "ones") + "# submitted\n"
    assert by_likelihood(written, package.rejected)[0] == package.rejected[number]


def test_of_what_is_no_python_the_part_before_the_fault_counts(package: Package) -> None:
    cut = source_of(LINES[3]).rpartition("return")[0] + "return ((("
    assert by_likelihood(cut, package.rejected)[0] == package.rejected[3]


def test_a_mistake_is_looked_up_and_nothing_is_run(shipped: Callable[..., Package], tmp_path: Path) -> None:
    """By what it does: the source is like another one."""
    verdict, run = judged(shipped(), tmp_path, LINES[0], lambda x: x + 5)
    assert (verdict.misconception, run) == ("Mistake 3.", [])


def test_another_order_of_sums_is_the_same_mistake(shipped: Callable[..., Package], tmp_path: Path) -> None:
    verdict, _ = judged(shipped(), tmp_path, LINES[0], lambda x: (x + 5) * np.float32(1 + 3e-7))
    assert verdict.misconception == "Mistake 3."


def test_rounding_of_an_element_that_nearly_cancels_is_the_same_mistake(
    shipped: Callable[..., Package], tmp_path: Path
) -> None:
    def diverged(x: np.ndarray, nearly_zero: float) -> np.ndarray:
        return np.where(x == 0, nearly_zero, 1e6 * x).astype(np.float32)

    package = shipped({3: lambda x: diverged(x, 403.45)})
    for nearly_zero, found in ((403.52, "Mistake 3."), (500.0, None)):
        verdict, _ = judged(package, tmp_path, LINES[0], lambda x, close=nearly_zero: diverged(x, close))
        assert verdict.misconception == found


@pytest.mark.parametrize("place", range(len(PUBLIC)))
def test_one_other_element_is_another_mistake(shipped: Callable[..., Package], tmp_path: Path, place: int) -> None:
    verdict, run = judged(shipped(), tmp_path, LINES[3], lambda x: x + 5 + 0.01 * (np.arange(8) == place).astype("f4"))
    assert (verdict.misconception, run) == (None, [])


def test_of_mistakes_that_public_cases_do_not_tell_apart_the_likeliest_are_run(
    shipped: Callable[..., Package], tmp_path: Path
) -> None:
    def alike(x: np.ndarray) -> np.ndarray:
        return x + 9 if x[0] == PUBLIC[0] else x + 7

    known: dict[int, Result] = {1: alike, 2: lambda x: x + 9}
    verdict, run = judged(shipped(known), tmp_path, LINES[1], lambda x: x + 9, known)
    assert (verdict.misconception, run) == ("Mistake 2.", ["wrong_value/1", "wrong_value/2"])


def test_a_run_has_public_cases_alone_so_the_likeliest_is_named(
    shipped: Callable[..., Package], tmp_path: Path
) -> None:
    known: dict[int, Result] = {1: lambda x: x + 9, 2: lambda x: x + 9}
    verdict, run = judged(shipped(known), tmp_path, LINES[2], lambda x: x + 9, known, hidden=False)
    assert (verdict.misconception, run) == ("Mistake 2.", [])


@pytest.mark.parametrize(("added", "told"), [(6, "Mistake 4."), (7, None)])
def test_a_mistake_that_only_hidden_cases_show_is_run(
    shipped: Callable[..., Package], tmp_path: Path, added: int, told: str | None
) -> None:
    def late(x: np.ndarray) -> np.ndarray:
        return x + 1 if x[0] == PUBLIC[0] else x + 6

    def mine(x: np.ndarray) -> np.ndarray:
        return x + 1 if x[0] == PUBLIC[0] else x + added

    verdict, run = judged(shipped({4: late}), tmp_path, LINES[0], mine, {4: late})
    assert (verdict.misconception, run) == (told, ["wrong_value/4"])


def test_without_fingerprints_the_three_likeliest_are_run(package: Package, tmp_path: Path) -> None:
    verdict, run = judged(package, tmp_path / "a", LINES[4], lambda x: x + 6)
    assert (verdict.misconception, run) == ("Mistake 4.", ["wrong_value/4"])
    verdict, run = judged(package, tmp_path / "b", LINES[4], lambda x: x + 70)
    assert verdict.misconception is None
    assert len(run) == 3


@pytest.mark.parametrize("part", ["jax", "source", "cases"])
def test_a_fingerprint_of_something_else_is_not_used(
    shipped: Callable[..., Package], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    made = shipped()
    assert len(current(made)) == len(LINES)
    if part == "jax":
        monkeypatch.setattr("grader.mistakes.known_mistakes.importlib.metadata.version", lambda name: "99.0")
        assert current(made) == {}
    elif part == "source":
        first, *rest = made.rejected
        changed = replace(made, rejected=(replace(first, source=f"{first.source}\n"), *rest))
        assert current(changed).keys() == {each.name for each in rest}
    else:
        assert (
            current(replace(made, cases=made.cases.replace("def public_cases", "ONE = 1\n\n\ndef public_cases"))) != {}
        )
        assert current(replace(made, cases=f"{made.cases}\n\ndef public_cases():\n    return []\n")) == {}


CASES = '''"""Cases."""
import numpy as np
SIZE, OTHER = 4, 5
def public_cases():
    """Public."""
    return [make(SIZE)]
def hidden_cases(rng):
    yield make(OTHER) | extra(rng)
def make(size):
    return {"x": np.ones(size)}
def extra(rng):
    return {}
'''


@pytest.mark.parametrize(
    ("old", "new", "holds_still"),
    [
        ("yield make(OTHER)", "yield make(7)", True),
        ("return {}\n", "return {'y': 1}\n", True),
        ('"""Cases."""', '"""All cases."""', True),
        ("np.ones(size)", "np.zeros(size)", False),
        ("SIZE, OTHER = 4, 5", "SIZE, OTHER = 6, 5", False),
        ("import numpy as np", "import jax.numpy as np", False),
    ],
)
def test_hidden_cases_may_change(shipped: Callable[..., Package], old: str, new: str, holds_still: bool) -> None:
    made = replace(shipped(), cases=CASES)
    made = replace(made, known=updated(made, {each.name: Fingerprint() for each in made.rejected}))
    assert bool(current(replace(made, cases=CASES.replace(old, new)))) == holds_still


def rounded_elsewhere(fingerprint: Fingerprint) -> Fingerprint:
    def moved(text: str) -> str:
        kind, *numbers = text.split()
        return " ".join([kind, *(f"{float(each) * (1 + 1e-7):.9g}" for each in numbers)])

    results = {case: {"": moved(leaves[""])} for case, leaves in fingerprint.results.items()}
    return fingerprint.model_copy(update={"results": results})


def test_what_still_holds_is_not_written_again(shipped: Callable[..., Package]) -> None:
    made = shipped()
    assert made.known is not None
    rounded = {name: rounded_elsewhere(each) for name, each in made.known.mistakes.items()}
    assert any(rounded[name] != each for name, each in made.known.mistakes.items())
    assert updated(made, rounded) == made.known
    other = {"wrong_value/0": Fingerprint(results={"public-1": {"": "float32[8] 1"}})}
    assert not holds(made, made.known.mistakes["wrong_value/0"], other["wrong_value/0"])
    assert updated(made, other).mistakes["wrong_value/0"].results == other["wrong_value/0"].results
    assert updated(made, {"wrong_value/0": None}).mistakes["wrong_value/0"].stored().keys() == {"of"}


def test_the_file_is_read_as_it_was_written_and_changes_no_version(shipped: Callable[..., Package]) -> None:
    made = shipped()
    assert made.known is not None
    text = known_text(made.known)
    assert KnownFingerprints.model_validate_json(text) == made.known
    read = package_of(None, {**made.files, "known.json": text})
    assert (read.version, read.files, read.known) == (made.version, made.files, made.known)


def test_a_stored_attempt_is_explained_only_if_nothing_has_to_be_run(shipped: Callable[..., Package]) -> None:
    made = shipped({1: lambda x: x + 9, 2: lambda x: x + 9})
    assert made.known is not None
    of = {number: made.known.mistakes[f"wrong_value/{number}"] for number in range(5)}
    assert explain_stored(made, LINES[0], Fingerprint(results=of[3].results)) == "Mistake 3."
    assert explain_stored(made, LINES[0], Fingerprint(results=of[3].results, shown=False)) is None
    assert explain_stored(made, LINES[1], Fingerprint(results=of[1].results)) is None


def test_a_right_result_of_a_wrong_construction_is_recognised_by_its_program(package: Package) -> None:
    """Its reason is that of wrong results."""
    mine = Fingerprint(pattern={"x=8 0": {"collectives": "0", "flops": "7"}})
    first, *rest = package.rejected
    made = replace(package, rejected=(replace(first, reason="wrong_structure"), *rest))
    made = replace(made, known=updated(made, {first.name: mine}))
    known = KnownMistakes(made, first.source, runs=0)
    assert known.explain(mine, "wrong_structure", lambda _: False, has_more=False) == first.misunderstanding
