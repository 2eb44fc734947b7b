"""Compare how long each reader of people's text takes for a text of 1 MiB and for an eighth of it.

Usage: python -m benchmarks.growth [--size CHARACTERS] [--limit SECONDS] [--readers NAME ...] [--json FILE]

Every text has been slow for some parser (tests/app/growing_texts.py). Each is read in a process of its own, which is
killed after the limit. If the work is linear, eight times the text takes eight times as long.
"""

import argparse
import json
import multiprocessing
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.machine import describe_machine
from tests.app.growing_texts import READERS, TEXTS, repeated

_TIMES = 8
# Times shorter than this are too noisy for a ratio.
_SHORT_S = 0.05
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Reading:
    """CPU seconds that a reader took for a text, and for an eighth of that text. None if it was killed."""

    reader: str
    text: str
    seconds: float | None
    eighth_s: float | None

    @property
    def times(self) -> float | None:
        """How many times as long the whole text took; None if a time is missing or too short to compare."""
        if self.seconds is None or self.eighth_s is None or self.seconds < _SHORT_S:
            return None
        return self.seconds / max(self.eighth_s, _SHORT_S / _TIMES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--size", type=int, default=1 << 20, help="characters of the longer text")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds that a text may take")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=[*READERS], metavar="NAME")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.size < 1 << 12 or asked.limit <= 0:
        parser.error("--size must be at least 4096 and --limit above 0")
    found = {name: [_measured(name, text, asked.size, asked.limit) for text in TEXTS] for name in asked.readers}
    if asked.json:
        readings = [asdict(each) for of_reader in found.values() for each in of_reader]
        asked.json.write_text(json.dumps({"machine": describe_machine(), "readings": readings}, indent=2))
    print(f"| reader | longest, s | for | most times as long as an eighth of the text | for |\n|{' --- |' * 5}")
    for name, readings in found.items():
        print(_row(name, readings, asked.limit))


def _measured(reader: str, text: str, size: int, limit_s: float) -> Reading:
    eighth = _seconds(reader, text, size // _TIMES, limit_s)
    whole = None if eighth is None else _seconds(reader, text, size, limit_s)
    print(f"{reader}, {text}: {_shown(whole, limit_s)} s", file=sys.stderr)
    return Reading(reader, text, whole, eighth)


def _seconds(reader: str, text: str, size: int, limit_s: float) -> float | None:
    """CPU seconds of one reading; None if it took longer than the limit."""
    here, there = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_read, args=(there, reader, text, size))
    process.start()
    there.close()
    try:
        return float(here.recv()) if here.poll(limit_s) else None
    finally:
        process.kill()
        process.join()


def _read(there: Connection, reader: str, text: str, size: int) -> None:
    whole = repeated(TEXTS[text])(size)
    # Read a short text first, to fill caches and run imports that happen on first use.
    READERS[reader](whole[:1024])
    start = time.process_time()
    READERS[reader](whole)
    there.send(time.process_time() - start)


def _row(reader: str, readings: list[Reading], limit_s: float) -> str:
    longest = max(readings, key=lambda each: limit_s if each.seconds is None else each.seconds)
    grown = [each for each in readings if each.times is not None]
    most = max(grown, key=lambda each: each.times or 0.0, default=None)
    times = "| | |" if most is None else f"| {most.times:.1f} | {most.text} |"
    return f"| {reader} | {_shown(longest.seconds, limit_s)} | {longest.text} {times}"


def _shown(seconds: float | None, limit_s: float) -> str:
    return f"over {limit_s:g}" if seconds is None else f"{seconds:.2f}"


if __name__ == "__main__":
    main()
