"""`meshgrade explore` as a person runs it, with the real judge and on wrong input."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.entry.cli.__main__ import main

CHECKOUT = Path(__file__).resolve().parents[4]
SOURCE = "def f(x, w):\n    return x @ w\n"
INPUTS = ["--input", 'x: float32[16, 8] P(None, "model")', "--input", 'w: float32[8, 4] P("model")']


def explore(*arguments: str, source: str = SOURCE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.entry.cli", "explore", *arguments],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "120"},
        cwd=CHECKOUT,
        input=source,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_function_is_shown_on_its_mesh():
    shown = explore("-", "f", "--mesh", "data=4,model=2", *INPUTS)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Mesh data=4, model=2  8 devices" in shown.stdout
    assert "all-reduce" in shown.stdout
    assert "line 2" in shown.stdout


def test_the_graph_of_a_function_is_a_table():
    shown = explore("-", "f", "--mesh", "data=4,model=2", *INPUTS, "--graph")
    assert shown.returncode == 0, shown.stderr
    table = shown.stdout[shown.stdout.index("no.") :]
    rows = [re.split(r"  +", line.strip()) for line in table.splitlines() if line.strip()]
    dash = "\N{EN DASH}"
    assert rows[1:] == [
        ["1", "x", "input", "256 B \N{MIDDLE DOT} P(None, 'model')", dash, dash],
        ["2", "w", "input", "64 B \N{MIDDLE DOT} P('model')", dash, dash],
        ["3", "f", "block", "1 product, 512 FLOP", "1: 256 B, 2: 64 B", "line 2"],
        ["4", "all-reduce over model", "collective", "sends 256 B \N{MIDDLE DOT} 4 groups of 2", "3: 256 B", "line 2"],
        ["5", "result", "output", "256 B \N{MIDDLE DOT} P()", "4: 256 B", dash],
    ]
    as_data = explore("-", "f", "--mesh", "data=4,model=2", *INPUTS, "--json")
    [program] = json.loads(as_data.stdout)
    assert [each["kind"] for each in program["graph"]["nodes"]] == ["input", "input", "block", "collective", "output"]


def test_a_module_beside_the_file_comes_along(tmp_path: Path):
    file, module = tmp_path / "train.py", tmp_path / "model.py"
    file.write_text("from model import dense\n\n\ndef f(x, w):\n    return dense(x, w)\n")
    module.write_text("def dense(x, w):\n    return x @ w\n")
    shown = explore(str(file), "f", "--mesh", "data=4,model=2", *INPUTS)
    assert (shown.returncode, shown.stderr) == (0, f"Also taken, because they are imported: {module}\n")
    assert "line 5" in shown.stdout
    module.rename(tmp_path / "jax.py")
    refused = explore(str(file), "f", "--mesh", "model=2", *INPUTS, "--module", str(tmp_path / "jax.py"))
    assert refused.returncode == 2
    assert "A module cannot be named jax" in refused.stderr


def test_two_files_are_compared_as_data(tmp_path: Path):
    other = tmp_path / "other.py"
    other.write_text("def f(x, w):\n    return x.sum() + w.sum()\n")
    shown = explore("-", "f", "--mesh", "model=2", *INPUTS, "--against", str(other), "--json")
    assert shown.returncode == 0, shown.stderr
    [mesh] = json.loads(shown.stdout)
    assert mesh["mesh"] == {"model": 2}
    assert {"collectives", "memory", "work"} <= {each["kind"] for each in mesh["differences"]}


def test_a_function_without_a_program_is_explained_with_its_line():
    shown = explore("-", "f", "--mesh", "model=2", *INPUTS, source="def f(x, w):\n    return x @ w.T\n")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "line 2" in shown.stderr
    assert "dot_general" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "f", "--mesh", "model=3", *INPUTS], "x: dimension 1 has 8 elements, which model cannot split into 3"),
        (["-", "f", "--mesh", "2x4", *INPUTS], "The mesh cannot be read at '2x4'. Write it as data=4, model=2."),
        (["-", "f", "--mesh", "model=2", "--input", "x"], "Line 1 of the inputs cannot be read: 'x'"),
        (["none.py", "f", "--mesh", "model=2", *INPUTS], "none.py cannot be read: No such file or directory"),
        (["-", "f", "--mesh", "model=2"], "There is no input. Write one on each line"),
        (
            ["-", "f", "--mesh", "model=2", *INPUTS, "--chip", "h1000"],
            "there is no topology 'h1000'. Write it as h100:8 or v5e:2x4",
        ),
        (
            ["-", "f", "--mesh", "model=2", *INPUTS, "--chip", "h100:3"],
            "H100 has no slice '3' here. Use one of 2, 4, 8",
        ),
        (
            ["-", "f", "--mesh", "model=2", *INPUTS, "--chip", "h100:8"],
            "this slice has 8 chips, but the mesh has 2 devices\nWrite --chip h100.",
        ),
        (
            ["-", "f", "--mesh", "model=2", *INPUTS, "--xla-option", "xla_gpu_none=1"],
            "--xla-option: 'xla_gpu_none' is not among the XLA options that are taken here.",
        ),
        (
            ["-", "f", "--mesh", "model=2", *INPUTS, "--against-xla-option", "flags.txt"],
            "--against-xla-option: 'flags.txt' is not an option of XLA. Write one as --NAME=VALUE.",
        ),
    ],
    ids=["uneven", "mesh", "input", "file", "none", "chip", "slice", "size", "option", "no option"],
)
def test_wrong_usage_is_named(arguments: list[str], message: str):
    shown = explore(*arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert message in shown.stderr


@pytest.mark.parametrize(("chip", "platform"), [("v5e", "tpu"), ("h100", "gpu"), ("v5e:2x4", "tpu"), ("h100:8", "gpu")])
@pytest.mark.parametrize("command", ["explore", "inspect"])
def test_a_missing_compiler_is_named_before_anything_is_compiled(
    command: str, chip: str, platform: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("app.entry.cli.installed_compiler.compiler_of", lambda platform: None)
    monkeypatch.setattr(f"app.entry.cli.{command}.show_compiled", pytest.fail)
    arguments = {
        "explore": [__file__, "f", "--mesh", "data=4,model=2", *INPUTS],
        "inspect": ["fsdp_shard_map_step", __file__],
    }[command]
    monkeypatch.setattr(sys, "argv", ["meshgrade", command, *arguments, "--chip", chip])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err == (
        f"Error: the compiler for {platform.upper()}s is not installed\n"
        f"Run `./meshgrade install-{platform}` in a checkout.\n"
    )
