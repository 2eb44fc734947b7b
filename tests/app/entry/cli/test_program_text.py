"""The program in a terminal: no name and no number is cut, however narrow the terminal."""

import re

import pytest

from app.entry.cli.program_text import print_program
from tests.grader.checks.program.made_up_programs import exchange, program

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
