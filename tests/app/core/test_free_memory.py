"""Memory that is no longer used goes back to the system."""

from pathlib import Path

from app.core.free_memory import trim


def resident_mb() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss:"))


def test_holes_between_small_objects_are_given_back():
    # Each is larger than what Python allocates from its own arenas.
    objects = [bytes(1000) for _ in range(100_000)]
    left = objects[::1000]
    del objects
    before = resident_mb()
    trim()
    assert before - resident_mb() > 50
    assert len(left) == 100
