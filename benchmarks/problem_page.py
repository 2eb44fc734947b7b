"""Load the problem page in Chromium: how much is sent, when its text can be read, and when its editor can be used."""

import os
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkFailed
from benchmarks.measure import Measured, Say
from benchmarks.server import Server
from benchmarks.workload import PROGRAM_SLUG, copy_package

_SLOWER = 4
_ARGUMENTS = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
# The encodings that Chromium accepts. Without them, nothing is compressed.
_CODINGS = ["gzip", "deflate", "br"]
_WATCH = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
const look = () => {
  if (document.querySelector("[data-editor]")?.shadowRoot?.querySelector(".cm-line")) window.usable = performance.now();
  else requestAnimationFrame(look);
};
look();
"""
_FIRST_CONTENT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One load of the page with an empty cache. Times are milliseconds from the start of the navigation."""

    sent_bytes: int
    requests: int
    first_content_ms: float
    usable_ms: float
    layout_shift: float


def chromium() -> str:
    """Return the path of Chromium. Raises `BenchmarkFailed` if it or the package that drives it is missing."""
    if find_spec("playwright") is None:
        raise BenchmarkFailed("The part `web` needs the package playwright, which `./meshgrade test` installs.")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise BenchmarkFailed("The part `web` needs Chromium. On Debian, install it with: apt-get install chromium")
    return found


def measure_web(say: Say, *, quick: bool) -> Measured:
    """Measure the page. Raises `BenchmarkFailed` if there is no Chromium, or the service does not start."""
    browser, rounds = chromium(), 1 if quick else 5
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        copy_package(PROGRAM_SLUG, folder / "problems")
        say("starting a service that grades nothing")
        kind = f"{PROGRAM_SLUG}/runs"
        with Server(folder / "data", folder / "problems", kind, say, "benchmarks.stand_in_judge") as server:
            link = server.wait_for("Sign in (works once): ", say).split()[-1]
            server.settle()
            say(f"the problem page, {rounds} times compressed and {rounds} times as it is, CPU {_SLOWER} times slower")
            loads, plain = _load(browser, link, f"http://{server.address}/problems/{PROGRAM_SLUG}", rounds)
    figures = {
        "page_kb": _median(loads, "sent_bytes") / 1000,
        "first_content_ms_p50": _median(loads, "first_content_ms"),
        "usable_ms_p50": _median(loads, "usable_ms"),
        "layout_shift": _median(loads, "layout_shift"),
        "plain_page_kb": _median(plain, "sent_bytes") / 1000,
    }
    return Measured(
        {f"web.{key}": round(value, 4) for key, value in figures.items()},
        f"/problems/{PROGRAM_SLUG}",
        {"loads": rounds, "requests": loads[0].requests},
    )


def _median(loads: list[Loaded], name: str) -> float:
    return float(statistics.median(getattr(each, name) for each in loads))


def _load(executable: str, link: str, url: str, rounds: int) -> tuple[list[Loaded], list[Loaded]]:
    """Load the page `rounds` times with and without compression, in turn, each in a new signed-in browser context."""
    from playwright.sync_api import sync_playwright

    # Chromium refuses to run as root inside its own sandbox; the pages it opens here are ours.
    arguments = [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        first = browser.new_context()
        first.new_page().goto(link)
        cookies = first.storage_state()
        loads: tuple[list[Loaded], list[Loaded]] = ([], [])
        for _ in range(rounds):
            for codings, into in ((_CODINGS, loads[0]), ([], loads[1])):
                context = browser.new_context(storage_state=cookies, viewport={"width": 1440, "height": 900})
                into.append(_load_once(context, url, codings))
                context.close()
        browser.close()
    return loads


def _load_once(context: Any, url: str, codings: list[str]) -> Loaded:
    page = context.new_page()
    control, sent = context.new_cdp_session(page), []
    control.on("Network.loadingFinished", lambda event: sent.append(int(event["encodedDataLength"])))
    control.send("Network.enable")
    control.send("Network.setAcceptedEncodings", {"encodings": codings})
    control.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
    page.add_init_script(_WATCH)
    page.goto(url)
    page.wait_for_function("window.usable")
    page.wait_for_load_state("networkidle")
    values = page.evaluate(f"[{_FIRST_CONTENT}, window.usable, window.shift]")
    return Loaded(sum(sent), len(sent), *map(float, values))
