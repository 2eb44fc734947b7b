"""Which modules come along with a file to explore."""

from pathlib import Path

import pytest

from app.core.start_errors import StartRefused
from app.entry.cli.module_files import read_modules


def write(folder: Path, **sources: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)


def test_what_is_imported_and_beside_the_file_comes_along(tmp_path: Path) -> None:
    write(tmp_path, model="import layers.dense\n", layers="", unused="", jax_free="import jax\n")
    source = "import jax, os\ndef f(x):\n    from model import Block\n    import nowhere, jax_free\n"
    modules, taken = read_modules([], [(str(tmp_path / "train.py"), source)])
    assert modules == {"model": "import layers.dense\n", "layers": "", "jax_free": "import jax\n"}
    assert sorted(taken) == [str(tmp_path / f"{name}.py") for name in ("jax_free", "layers", "model")]


def test_a_named_module_comes_from_anywhere_with_its_own(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", model="import layers\n", layers="x = 1\n")
    modules, taken = read_modules([str(tmp_path / "elsewhere" / "model.py")], [("-", "import model\n")])
    assert modules == {"model": "import layers\n", "layers": "x = 1\n"}
    assert taken == [str(tmp_path / "elsewhere" / "layers.py")]


def test_a_file_that_python_cannot_read_brings_nothing(tmp_path: Path) -> None:
    write(tmp_path, model="")
    assert read_modules([], [(str(tmp_path / "train.py"), "import model\nx = [\n")]) == ({}, [])


def test_two_versions_with_different_modules_are_refused(tmp_path: Path) -> None:
    files = [tmp_path / "old", tmp_path / "new"]
    for folder in files:
        write(folder, model=f"x = '{folder.name}'\n", layers="y = 1\n")
    sources = [(str(folder / "train.py"), "import layers, model\n") for folder in files]
    with pytest.raises(StartRefused, match=r"old/model\.py and .*new/model\.py differ"):
        read_modules([], sources)
    modules, _ = read_modules([str(files[1] / "model.py")], sources)
    assert modules == {"model": "x = 'new'\n", "layers": "y = 1\n"}


def test_two_modules_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, model="")
    with pytest.raises(StartRefused, match="two modules are named model"):
        read_modules([str(tmp_path / "model.py")] * 2, [("-", "")])


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"none\.py cannot be read"):
        read_modules([str(tmp_path / "none.py")], [("-", "")])
