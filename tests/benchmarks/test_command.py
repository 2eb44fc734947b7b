"""What `bench` chooses, computes and prints, and what it says when a part fails. tests/benchmarks measures for real."""

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from app.grading.queue.null_grader import NullGrader
from benchmarks.census import Census, take_census
from benchmarks.diverse_submissions import REJECTED_OF, SEED, choose
from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import CALL, DIVERSE, EXPLORE, LENS, PROGRAM, SERVICE, WEB
from benchmarks.measure import Measured, percentile
from benchmarks.mixture import Known, mixed
from benchmarks.parts import PARTS, measure_parts
from benchmarks.processes import waits_for_work
from benchmarks.program_mode import typical
from benchmarks.scaling import Costs, computed
from benchmarks.workload import PROGRAM_SLUG
from benchmarks.write_table import fill, tables_of
from grader.package.package import KnownSubmission
from grader.review.reader import read_package
from tests.app.conftest import write_package

CHECKOUT = Path(__file__).resolve().parents[2]
ALL_KEYS = (*CALL.keys, *PROGRAM.keys, *SERVICE.keys, *DIVERSE.keys, *EXPLORE.keys, *LENS.keys, *WEB.keys)
RESULTS = dict.fromkeys(ALL_KEYS, 3.0) | {
    "machine": {
        "date": "2026-11-30",
        "cores": 2,
        "cpu": "a processor",
        "kernel": "6.1",
        "python": "3.11",
        "jax": "0.10",
    },
    "submissions": {
        "call": "fsdp_step/literal",
        "program": "fsdp_shard_map_step/reference",
        "service": "fsdp_step/reference",
        "diverse": "2 submissions of 1 problems",
        "explore": "fsdp_shard_map_step/reference",
        "lens": "a compiler",
        "web": "/problems/fsdp_shard_map_step",
    },
    "repetitions": {
        "call": {"ours": 1},
        "program": {"ours": 2},
        "service": {"students": 20},
        "diverse": {"seed": 1},
        "explore": {"ours": 1},
        "lens": {"small": 1},
        "web": {"loads": 1},
    },
}


def test_every_accepted_submission_is_among_the_different_ones_and_each_reason_of_three_problems():
    packages = [read_package(path.parent) for path in sorted((CHECKOUT / "problems").glob("*/problem.toml"))]
    chosen = choose(packages, None, SEED)
    assert len({each.name for each in chosen}) == len(chosen)
    assert sum(each.submission.reason is None for each in chosen) == sum(len(each.accepted) for each in packages)
    reasons = [(each.package.slug, each.submission.reason) for each in chosen if each.submission.reason]
    assert set(reasons) == {
        (each.slug, known.reason) for each in packages if each.slug in REJECTED_OF for known in each.rejected
    }
    assert len(set(reasons)) == len(reasons)


def test_lists_make_a_table_with_a_line_for_each_path():
    lists = {"sqlite": {"/": [1.25, 2.5, 1.0, 1]}, "postgresql": {"/": [3.0, 4.0, 2.0, 2]}}
    tables = tables_of({"lists": lists, "attempts": 1000, "rounds": 5, "machine": RESULTS["machine"]})
    assert "| `/` | 1.2 | 2.5 | 1.0 | 1 | 3.0 | 4.0 | 2.0 | 2 |" in tables["lists"]


def test_another_part_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", "kernel"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "'call'" in done.stderr
    assert "'program'" in done.stderr


def test_a_part_is_measured_alone(monkeypatch):
    def measured(say, *, quick):
        say("a phase")
        return Measured({"program.speedup": 4.5}, "fsdp_shard_map_step/reference", {"ours": int(quick)})

    monkeypatch.setattr("benchmarks.parts.PARTS", {**PARTS, "program": measured})
    said = []
    results = measure_parts(["program"], said.append, quick=True)
    assert said == ["program: a phase"]
    assert results.pop("machine")
    assert results == {
        "program.speedup": 4.5,
        "submissions": {"program": "fsdp_shard_map_step/reference"},
        "repetitions": {"program": {"ours": 1}},
        "failures": {},
    }


def test_a_part_that_fails_costs_no_other_part_its_figures(monkeypatch):
    def broken(say, *, quick):
        raise BenchmarkFailed("the plain process ended")

    def measured(say, *, quick):
        return Measured({"program.speedup": 4.5}, "fsdp_shard_map_step/reference", {"ours": 1})

    monkeypatch.setattr("benchmarks.parts.PARTS", {"call": broken, "program": measured})
    said = []
    results = measure_parts(["call", "program"], said.append, quick=True)
    assert results["failures"] == {"call": "the plain process ended"}
    assert results["program.speedup"] == 4.5
    assert said == ["call: failed. the plain process ended"]
    with pytest.raises(BenchmarkFailed, match="the plain process ended"):
        measure_parts(["call"], said.append, quick=True)


def test_without_chromium_the_part_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BenchmarkFailed, match="apt-get install chromium"):
        measure_parts(["web"], lambda line: None, quick=True)


def test_the_typical_submission_keeps_the_init_of_the_starter():
    package = read_package(CHECKOUT / "problems" / PROGRAM_SLUG)
    own = KnownSubmission("own", package.starter.replace("nnx.Rngs(jax.random.key(seed))", "nnx.Rngs(seed)"), None, "")
    kept = KnownSubmission("kept", package.starter.replace("This function is complete.", ""), None, "")
    assert own.source != package.starter != kept.source
    assert typical(replace(package, accepted=(own, kept))) is kept
    assert typical(replace(package, accepted=(own,))).source == package.reference


def test_a_process_with_a_limit_on_its_address_space_has_been_given_something():
    for limit, waits in (("unlimited", True), (str(1 << 30), False)):
        with subprocess.Popen(["sh", "-c", f"ulimit -v {limit}; echo; read line"], stdin=-1, stdout=-1) as shell:
            assert shell.stdout
            shell.stdout.readline()
            assert waits_for_work(shell.pid) is waits
            shell.communicate(b"\n")


def test_a_percentile_is_a_sample_that_was_measured():
    assert percentile([5.0, 1.0, 3.0], 95) == 5.0
    assert percentile([float(number) for number in range(1, 21)], 95) == 19.0
    assert percentile([7.0], 95) == 7.0


def test_a_figure_that_was_not_measured_reaches_nothing():
    results = RESULTS | {"call.warm_fork_private_mb": None}
    memory = next(figure for figure in CALL.targets if "memory" in figure.title)
    assert memory.reached(RESULTS)
    assert not memory.reached(results)
    assert memory.shown(results) == "not measured"


def test_a_figure_without_a_target_is_neither_reached_nor_missed():
    memory = next(figure for figure in PROGRAM.targets if "memory" in figure.title)
    assert (memory.target, memory.reached(RESULTS), memory.shown(RESULTS)) == ("none", None, "3 MiB")


def test_the_page_takes_its_tables_and_keeps_its_text():
    page = (CHECKOUT / "docs" / "performance.md").read_text()
    tables = tables_of(RESULTS)
    assert set(tables) == {"call", "program", "service", "diverse", "explore", "lens", "web"}
    for name, line in (
        ("call", "| Idle: median bare / median ours | at least 70 | 3 | **no** |"),
        ("service", "| The class: submissions without a verdict | at most 0 | 3 | **no** |"),
        ("program", "| Idle: median ours | at most 450 ms | 3 ms | yes |"),
    ):
        filled = fill(page, name, tables[name])
        assert line in filled
        assert filled.partition(f"<!-- {name}: begin -->")[0] == page.partition(f"<!-- {name}: begin -->")[0]
        assert filled.partition(f"<!-- {name}: end -->")[2] == page.partition(f"<!-- {name}: end -->")[2]
    with pytest.raises(BenchmarkFailed, match="0 places"):
        fill("no place", "call", tables["call"])


def test_results_of_another_kind_are_refused():
    with pytest.raises(BenchmarkFailed, match="unknown kind"):
        tables_of({"something": 1})


def test_more_of_anything_than_before_is_told_and_less_is_not():
    before = Census(descriptors=30, processes=9, threads=4, mounts=20, mount_namespaces=7, scratch=1, resident_mb=60.0)
    assert replace(before, processes=8, scratch=0, resident_mb=90.0).left_since(before) == []
    left = replace(before, descriptors=31, mount_namespaces=8).left_since(before)
    assert left == ["descriptors: 30 before, 31 now", "mount namespaces: 7 before, 8 now"]


def test_a_file_left_in_the_temporary_folder_is_counted(tmp_path):
    before = take_census(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "left").touch()
    with ExitStack() as held:
        # Enough to show even if another test's descriptors happen to close in between.
        for number in range(50):
            held.enter_context((tmp_path / f"held-{number}").open("w"))
        after = take_census(tmp_path)
    assert after.scratch - before.scratch == 52
    assert after.descriptors > before.descriptors


def test_the_soak_knows_a_right_verdict_from_a_wrong_one(tmp_path):
    package = write_package(tmp_path)
    verdict = NullGrader().judge(package, "def add_one(x): ...\n")
    assert (verdict.status, verdict.reason) == ("rejected", "wrong_value")
    for expected, fits in (
        ({("rejected", "wrong_value")}, True),
        ({("rejected", None)}, True),
        ({("accepted", None), ("rejected", "killed")}, False),
    ):
        assert Known("add_one/wrong", package, "", frozenset(expected)).fits(verdict) is fits


def test_the_soak_mixes_honest_and_hostile_in_turn():
    names = [known.name.partition("/")[0] for known in mixed(400)]
    assert len(names) == 400
    assert set(names[0::2]) == {"fsdp_step"}
    assert set(names[1::2]) == {"hostile"}


def test_what_scaling_needs_follows_from_what_was_measured():
    assert (CHECKOUT / "docs" / "scaling.md").read_text() == computed(), "run: python -m benchmarks.scaling"
    page_ms, post_ms = {"sqlite": 4.0, "postgresql": 10.0}, {"sqlite": 6.0, "postgresql": 8.0}
    costs = Costs(1.0, 3.0, page_ms, post_ms)
    assert costs.row(100_000) == ["100,000", "5.6 /s", "19", "3, PostgreSQL", "33 /s", "1"]
    assert "SQLite" in costs.row(1_000)[3]
    # 500 students: 6 pages and a POST each, 15 s in all, and 1,000 s of grading.
    assert costs.class_row(500) == ["500", "1.5", "8 min", "2 min", "32 s", "one with 8 cores"]
