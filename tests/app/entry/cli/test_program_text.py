"""The program in a terminal: no name and no number is cut, however narrow the terminal."""

import re
from dataclasses import replace

import pytest

from app.entry.cli.program_text import print_differences, print_program
from grader.core.xla_options import GivenOption
from grader.program.measurement import Measured
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program
from tests.grader.program.test_gpu_schedule import schedule_of

MESH = {"replica": 2, "fsdp_transpose": 2, "tensor_sequence": 2}
COLLECTIVES = (
    exchange("collective-permute", 4096, executions=128, loops=("while.1",)),
    exchange("reduce-scatter", 8192),
    exchange("all-to-all", 4096, conditional=True),
)


def shown(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    print_program(program(MESH, collectives=COLLECTIVES))
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40, 20])
def test_nothing_is_cut(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(width, capsys, monkeypatch)
    assert "…" not in text
    words = {word.rstrip(",") for word in text.split()}
    assert words >= {
        "collective-permute",
        "reduce-scatter",
        "all-to-all",
        *MESH,
        "float32",
        "512\N{MULTIPLICATION SIGN}16",
        "128",
    }


def test_a_row_takes_one_line_if_the_terminal_is_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [re.split(r" {2,}", line.strip()) for line in shown(160, capsys, monkeypatch).splitlines()]
    axes = "replica, fsdp_transpose, tensor_sequence"
    assert ["collective-permute in a loop", f"{axes} (8)", "128", "512.0 KiB", "448.0 KiB", "line 7"] in rows
    assert ["all-to-all in a branch", f"{axes} (8)", "at most 1", "4.0 KiB", "3.5 KiB", "line 7"] in rows


def test_in_80_columns_the_parts_of_a_cell_are_stacked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(80, capsys, monkeypatch).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("collective-permute"))
    assert [line.split() for line in lines[first : first + 3]] == [
        ["collective-permute", "replica,", "128", "512.0", "KiB", "448.0", "KiB", "line", "7"],
        ["in", "a", "loop", "fsdp_transpose,"],
        ["tensor_sequence", "(8)"],
    ]


def test_short_names_fit_into_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_program(program({"model": 8}, collectives=COLLECTIVES))
    tables = capsys.readouterr().out.partition("On each device")[0]
    assert max(map(len, tables.splitlines())) <= 80
    assert re.search(r"^collective-permute +model \(8\) +128 ", tables, re.MULTILINE)


def test_what_a_source_names_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_program(program({"[red]x\x1b[31m": 8}, collectives=COLLECTIVES))
    assert re.search(r"^reduce-scatter +\[red\]x ", capsys.readouterr().out, re.MULTILINE)


def on_h100s(schedule: str | None) -> Measured:
    found = None if schedule is None else ChipFacts(Memory(0, 0, 0, 0), 0, 0, schedule_of(schedule))
    chip = OnChip("h100:8", found, "It is too large." if found is None else "", compiler="a compiler")
    return replace(program(EIGHT), on_chip=chip)


@pytest.mark.parametrize(
    ("mine", "other", "last"),
    [
        ("gathered_ahead", "gathered_ahead", "No difference: communication, its order, memory and work are equal."),
        ("gathered_ahead", None, "The other has no program for h100:8; this program has one."),
        (None, None, "It is too large."),
    ],
    ids=["equal", "one", "none"],
)
def test_two_versions_are_compared_on_host_devices_and_on_the_chip(
    mine: str | None, other: str | None, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_differences(on_h100s(mine), on_h100s(other))
    assert capsys.readouterr().out.splitlines() == [
        "Mesh x=8",
        "  No difference: placement, communication, memory and work are equal.",
        "On h100:8  compiled by a compiler",
        f"  {last}",
        "",
    ]


def test_the_options_of_each_version_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    mine, other = on_h100s("not_combined"), on_h100s("gathered_ahead")
    options = (GivenOption("xla_gpu_a", "0", 3), GivenOption("xla_gpu_b", "true"))
    mine = replace(mine, on_chip=replace(mine.on_chip, options=options))
    print_differences(mine, other)
    shown = capsys.readouterr().out
    assert "\n  This program has the XLA options xla_gpu_a=0, xla_gpu_b=true.\n" in shown
    assert "The other version has the XLA" not in shown
    print_program(mine)
    assert "\nXLA option xla_gpu_a=0  line 3\nXLA option xla_gpu_b=true\n" in capsys.readouterr().out


def test_versions_for_chips_alone_are_compared_on_the_chip(capsys: pytest.CaptureFixture[str]) -> None:
    mine, other = (replace(on_h100s(each), is_only_on_chip=True) for each in ("gathered_ahead", "not_combined"))
    print_differences(mine, other)
    shown = capsys.readouterr().out
    assert "XLA does not compile both programs for CPUs.\n  No difference: placement is equal.\n" in shown
    assert shown.count("all-gather over fsdp moves the same 768 KiB") == 1
