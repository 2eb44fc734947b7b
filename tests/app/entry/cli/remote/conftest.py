"""The command line in this process, and a real server in another one."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.entry.cli import __main__ as command_line
from app.problems.catalogue import Catalogue
from grader.package.package import Package
from tests.app.entry.cli.test_serve import CHECKOUT, serving

TOKEN = "preset-token-of-the-owner"


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


Meshgrade = Callable[..., Done]


@pytest.fixture
def meshgrade(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Meshgrade:
    """`meshgrade ARGUMENTS` without stored settings, in an empty folder; `stdin` is not a terminal."""
    for name in ("MESHGRADE_SERVER", "MESHGRADE_TOKEN", "MESHGRADE_INSECURE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def call(*arguments: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr("sys.argv", ["meshgrade", *map(str, arguments)])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return call


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that grades by comparing text with the reference."""
    with serving(tmp_path_factory.mktemp("live") / "data", MESHGRADE_OWNER_TOKEN=TOKEN) as (_, address, _):
        yield address


@pytest.fixture
def logged_in(meshgrade: Meshgrade, live: str) -> str:
    done = meshgrade("login", live, "--token-stdin", stdin=f"{TOKEN}\n".encode())
    assert done.code == 0, done
    return live


@pytest.fixture(scope="session")
def fsdp_step() -> Package:
    return Catalogue.load(CHECKOUT / "problems").get("fsdp_step")
