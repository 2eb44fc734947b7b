"""A student with a variant at a terminal: `pull` writes it, and the verdict of `submit` names it."""

import json
from pathlib import Path

from grader.package.variants import every_variant
from grader.review.reader import read_package
from tests.app.entry.cli.remote.conftest import TOKEN
from tests.app.entry.cli.test_serve import CHECKOUT, serving

PACKAGES = CHECKOUT / "tests" / "grader" / "packages"


def test_pull_and_submit_are_in_one_variant(meshgrade, tmp_path: Path):
    environment = {"MESHGRADE_OWNER_TOKEN": TOKEN, "MESHGRADE_PROBLEMS": str(PACKAGES)}
    with serving(tmp_path / "data", **environment) as (_, address, _):
        meshgrade("login", address, "--token-stdin", stdin=f"{TOKEN}\n".encode())
        pulled = meshgrade("pull", "scale_by")
        assert (pulled.code, pulled.err) == (0, "")
        text = Path("scale_by/variant.py").read_text()
        [mine] = [
            each for each in every_variant(read_package(PACKAGES / "scale_by")) if each.helpers["variant"] == text
        ]
        assert f"You have variant {mine.variant_name} of this problem." in pulled.out
        assert Path("scale_by/statement.md").read_text().startswith(mine.statement)
        assert Path("scale_by/scale_by.py").read_text() == mine.starter
        Path("scale_by/scale_by.py").write_text(mine.reference)
        done = meshgrade("submit", "scale_by/scale_by.py")
        assert (done.code, done.err) == (0, "")
        assert f"accepted  Scale by a number, variant {mine.variant_name}" in done.out
        sent = json.loads(meshgrade("submit", "scale_by/scale_by.py", "--json").out)
        assert (sent["variant"], sent["verdict"]["variant"]) == (mine.variant_name, mine.variant_name)
