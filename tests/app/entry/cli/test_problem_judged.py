"""`meshgrade problem check` with the real judge, once: a package that is right, and one that is not."""

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[4]


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "app.entry.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "200"},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_new_packages_are_judged_as_they_promise_and_broken_ones_are_not(tmp_path):
    for mode in ("call", "program"):
        run("problem", "new", f"new_{mode}", "--mode", mode, "--into", tmp_path, cwd=tmp_path)
    run("problem", "new", "broken", "--like", tmp_path / "new_call", "--into", tmp_path, cwd=tmp_path)
    rejected = tmp_path / "broken" / "submissions" / "rejected"
    (rejected / "wrong_shape").rename(rejected / "wrong_dtype")
    (tmp_path / "broken" / "starter.py").write_text("def new_call(x, parts):\n    return x.reshape(parts, -1).sum(1)\n")

    done = run("problem", "check", "--json", tmp_path, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = {each["slug"]: each for each in json.loads(done.stdout)["packages"]}
    for slug in ("new_call", "new_program"):
        assert {each["rule"] for each in found[slug]["findings"]} == {"todo"}
    broken = {(each["rule"], each["file"]) for each in found["broken"]["findings"] if each["rule"] != "todo"}
    assert broken == {
        ("starter", "starter.py"),
        ("rejected", "submissions/rejected/wrong_dtype/sum_of_everything.py"),
    }
    assert "new_program: 5 submissions judged" in done.stderr

    again = run("problem", "check", "--json", tmp_path / "new_call", cwd=tmp_path)
    assert [each["unchanged"] for each in json.loads(again.stdout)["packages"]] == [True]


def test_a_mutant_that_no_case_finds_survives(tmp_path):
    run("problem", "new", "row_sums", "--into", tmp_path, cwd=tmp_path)
    folder = tmp_path / "row_sums"
    reference = folder / "reference.py"
    # Adding 0 and subtracting it are the same.
    reference.write_text(reference.read_text().replace("sum(axis=1)", "sum(axis=1) + 0 * x[0]"))
    done = run("problem", "check", "--json", "--mutants", folder, cwd=tmp_path)
    (found,) = json.loads(done.stdout)["packages"]
    survived = [each for each in found["findings"] if each["rule"] == "surviving-mutant"]
    assert survived, done.stderr
    assert {(each["file"], each["line"], each["level"]) for each in survived} == {("reference.py", 8, "warning")}
    assert any("became `x.reshape(parts, -1).sum(axis=1) - 0 * x[0]`" in each["message"] for each in survived)
    assert found["mutants"] == {"judged": found["mutants"]["judged"], "survived": len(survived)}
    assert found["mutants"]["judged"] > len(survived)
