"""A session has the name that a person would give it."""

import pytest

from app.accounts.browser_name import browser_name

MAC, CHROME = "Macintosh; Intel Mac OS X 10_15_7", "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Edg/126.0", "Edge on Windows"),
        (
            f"Mozilla/5.0 ({MAC}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
            "Safari on macOS",
        ),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1", "Safari on an iPhone"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME}", "Chrome on Android"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "Unknown browser"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_browser_has_a_name(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
