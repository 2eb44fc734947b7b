"""What grades without a server uses the sandbox that the settings describe."""

import pytest

from app.entry.cli import local_judge as module
from grader.core.errors import WallMissing


def test_the_isolation_of_the_settings_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    proved: list[str] = []

    def require(isolation: str) -> None:
        proved.append(isolation)
        raise WallMissing("seccomp", "x", "y")

    monkeypatch.setattr(module, "require_walls", require)
    monkeypatch.setenv("MESHGRADE_ISOLATION", "container")
    with pytest.raises(WallMissing), module.local_judge():
        pass
    assert proved == ["container"]


def test_the_sandbox_is_built_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[dict[str, object]] = []

    def build(cache: object, **options: object) -> object:
        built.append(options)
        raise WallMissing("seccomp", "x", "y")

    monkeypatch.setattr(module, "require_walls", lambda isolation: None)
    monkeypatch.setattr("app.grading.judging.build_sandbox", build)
    monkeypatch.setenv("MESHGRADE_ISOLATION", "container")
    monkeypatch.setenv("MESHGRADE_PACKAGE_MEMORY_MB", "777")
    with pytest.raises(WallMissing), module.local_judge():
        pass
    assert built[0]["isolation"] == "container"
    assert built[0]["ceiling"].memory_mb == 777  # type: ignore[attr-defined]
