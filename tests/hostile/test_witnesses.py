"""An attack that leaves something, or changes how later submissions are judged, is found in its batch."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.hostile import arena as arenas
from tests.hostile.arena import HONEST, Arena
from tests.hostile.attack import Attack, parse, read_corpus
from tests.hostile.witnesses import BATCH, Step, batches, fault_of, harm, smallest

STEPS: list[Step] = [(attack,) for attack in read_corpus()[:BATCH]]


def test_every_attack_is_in_one_batch_of_at_most_eight():
    found = list(batches([str(number) for number in range(45)]))
    assert sorted(int(name) for _, name in found) == list(range(45))
    sizes = [sum(each == number for each, _ in found) for number in range(6)]
    assert sorted(sizes) == [7, 7, 7, 8, 8, 8]


@pytest.mark.parametrize("guilty", range(BATCH))
def test_the_harmful_attack_is_found_with_few_repetitions(guilty):
    tried = []

    def does_harm(steps: Sequence[Step]) -> bool:
        tried.append(steps)
        return STEPS[guilty] in steps

    assert smallest(STEPS, does_harm) == [STEPS[guilty]]
    assert len(tried) <= 6


def test_attacks_that_only_do_harm_together_are_named_together():
    assert smallest(STEPS, lambda steps: STEPS[4] in steps and STEPS[6] in steps) == STEPS[4:]
    assert smallest(STEPS, lambda steps: False) == STEPS


def _attack(name: str) -> Attack:
    return parse(name, '"""expect: accepted. Leaves what its name says."""')


def test_what_an_attack_left_is_found_in_a_new_arena(
    arena: Arena, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    """Stands in for a hole in the walls: after its grading, this process leaves what the attack would.

    It leaves it in a folder that no other arena looks at. Every arena removes what it finds in the others, so one in
    another process would blame its own attacks for this file, or remove it before it is found here.
    """
    folder = tmp_path_factory.mktemp("host")
    monkeypatch.setattr(arenas, "_FOLDERS", (folder,))
    planted = folder / "left-behind"
    batch = [(_attack(name),) for name in ("a", "b", "leaves_a_file", "c")]

    @contextmanager
    def open_arena() -> Iterator[Arena]:
        yield arena

    def attack(each: Attack) -> None:
        if each.name == "leaves_a_file":
            planted.write_text("")

    monkeypatch.setattr(arena, "attack", attack)
    for (each,) in batch:
        arena.attack(each)
    found = harm(arena)
    assert found
    assert "left-behind" in found
    assert not planted.exists()
    assert fault_of(batch, found, open_arena).startswith("leaves_a_file did harm: something was left behind.")
    assert harm(arena) is None


def test_a_harmful_batch_fails_at_its_end_and_later_attacks_still_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    harms = iter(["a file was left", None])
    monkeypatch.setattr("tests.hostile.conftest.harm", lambda arena: next(harms))
    monkeypatch.setattr("tests.hostile.conftest.fault_of", lambda batch, found, _: f"{batch} did harm: {found}")
    pytester.makeconftest(
        """
        import pytest
        from tests.hostile import conftest
        from tests.hostile.conftest import pytest_runtest_teardown, since_check

        @pytest.fixture
        def arena(pytestconfig):
            pytestconfig.stash[conftest._ARENA] = None
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("name", [
            pytest.param(name, marks=pytest.mark.xdist_group(name[0])) for name in ("1a", "1b", "2a", "2b")
        ])
        def test_an_attack(arena, since_check, name):
            since_check.append(name)
        """
    )
    ran = pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    ran.assert_outcomes(passed=4, errors=1)
    ran.stdout.fnmatch_lines(["*ERROR at teardown of test_an_attack?1b?*", "*'1a', '1b'* did harm: a file was left"])


@pytest.mark.parametrize(
    ("honest", "wrong", "told"),
    [
        (("rejected", "wrong_value", 0), ("rejected", "wrong_value", 0), "an honest submission"),
        (("accepted", None, 100), ("accepted", None, 100), "a wrong submission"),
    ],
)
def test_another_verdict_on_a_later_submission_is_harm(honest, wrong, told):
    def verdict(status: str, reason: str | None, score: int) -> SimpleNamespace:
        return SimpleNamespace(
            status=status, reason=reason, score=score, stdout="", stderr="", model_dump_json=lambda **_: "{}"
        )

    def grade(source: str) -> SimpleNamespace:
        return verdict(*(honest if source == HONEST else wrong))

    assert told in (harm(SimpleNamespace(grade=grade, left_behind=lambda: None)) or "")


def test_the_state_after_a_descriptor_was_kept_differs(arena: Arena, monkeypatch: pytest.MonkeyPatch):
    assert arena.left_behind() is None
    for _ in range(2):
        kept = os.open("/dev/null", os.O_RDONLY)
        with monkeypatch.context() as impatient:
            # It does not go away, so there is no need to wait. What is still ending differs as well.
            impatient.setattr(arenas, "_SETTLE_S", 1.0)
            assert "something was left behind" in (arena.left_behind() or "")
        os.close(kept)
        # Fewer than expected by now are nothing that was left. From then on, one more is.
        assert arena.left_behind() is None
