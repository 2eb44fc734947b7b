"""Answer-mode problems at a terminal: the question is pulled, and answers may be JSON or TOML."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from app.core.start_errors import StartRefused
from app.entry.cli import pull
from app.entry.cli.__main__ import app
from app.entry.cli.remote.responses import Problem, Question
from app.entry.cli.remote.submission_sender import _slug_in
from app.entry.cli.submission_arguments import source_of


def test_pulling_writes_the_question_and_empty_answers(monkeypatch, tmp_path):
    there = SimpleNamespace(
        problem=lambda slug: Problem(
            slug=slug, title="T", statement="S", starter='{"bytes": ""}\n', mode="answer", grading=[]
        ),
        question=lambda slug: Question(question="How many bytes?"),
    )

    @contextmanager
    def connected(*arguments, **options):
        yield there

    monkeypatch.setattr(pull, "connected", connected)
    done = CliRunner().invoke(app, ["pull", "shard_bytes", str(tmp_path / "work")])
    assert done.exit_code == 0, done.output
    files = {each.name: each.read_text() for each in (tmp_path / "work").iterdir()}
    assert files.pop("statement.md").startswith("S\n## Grading\n")
    assert files == {"shard_bytes.json": '{"bytes": ""}\n', "question.md": "How many bytes?"}
    assert "meshgrade run" not in done.output
    assert "meshgrade submit" in done.output


def test_answers_in_toml_become_json(tmp_path):
    file = tmp_path / "shard_bytes.toml"
    file.write_text('bytes = "12 MiB"\ntable = [[1, 2]]\n')
    assert json.loads(source_of(str(file), 1000)) == {"bytes": "12 MiB", "table": [[1, 2]]}
    file.write_text("bytes = \n")
    with pytest.raises(StartRefused, match="has no answers in TOML") as refused:
        source_of(str(file), 1000)
    assert 'bytes = "12 MiB"' in refused.value.remedy


@pytest.mark.parametrize("ending", ["py", "json", "toml"])
def test_the_name_of_a_file_says_which_problem_it_solves(ending):
    assert _slug_in(f"work/shard_bytes.{ending}") == "shard_bytes"
