"""Functions that test_bounded.py calls in other processes."""

import os
import re
import time


def matches(pattern: str, text: str) -> bool:
    return re.match(pattern, text) is not None


def burn(seconds: float) -> int:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return os.getpid()


def wait_for_file(path: str) -> bool:
    while not os.path.exists(path):
        time.sleep(0.01)
    return True


def zeros(number: int) -> int:
    return len(bytes(number))


def deep() -> None:
    deep()


def environment() -> str | None:
    return os.environ.get("MESHGRADE_SECRET")
