"""Measure covert channels between two submissions that run at the same time: `python -m benchmarks.covert_channels`.

Two forks behind all walls deliberately share only a clock. In each time slot the sender is active or idle, depending on
a bit, and the receiver reports what it observes. The output is the channel's rate in bits per second, corrected for
errors. docs/security.md draws the conclusions.
"""

import math
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from grader.package.package import Limits
from grader.sandbox.build import build_sandbox
from grader.sandbox.protocol import RunnerSpec, Sandbox

_BITS = 400
_HEAD = """
import threading, time
START, SLOT, BITS = {start}, {slot}, {bits}


def thread():
    made = threading.Thread(target=int)
    made.start()
    made.join()
    return made.native_id


def wait_for(moment):
    while (left := moment - time.time()) > 0:
        time.sleep(left)
"""
_LEFT = """
def send():
    for number, bit in enumerate(BITS):
        wait_for(START + number * SLOT)
        if bit:
            {act}
"""
_RIGHT = """
def receive():
    felt = []
    for number in range(len(BITS)):
        wait_for(START + (number + {begin}) * SLOT)
        {look}
    return felt
"""
# For each channel: the sender's action, the receiver's measurement, the part of the slot after which it begins, and the
# lengths of slots in seconds.
_CHANNELS = {
    "numbers of threads": (
        "[thread() for _ in range(int(SLOT * 2000))]",
        "felt.append(thread())",
        0.9,
        (0.05, 0.01, 0.004, 0.002),
    ),
    "a busy core": (
        "until = time.time() + 0.8 * SLOT\n            while time.time() < until: pass",
        "until = time.time() + 0.8 * SLOT\n        count = 0\n        while time.time() < until: count += 1\n"
        "        felt.append(count)",
        0.0,
        (0.05, 0.01),
    ),
}
_ATTEMPT_S = 90


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, build_sandbox(Path(folder)) as sandbox:
        for name, (act, look, begin, slots) in _CHANNELS.items():
            rates = [_measure(sandbox, act, look, begin, slot) for slot in slots]
            told = ", ".join(f"{rate:.0f} at {slot * 1000:g} ms" for rate, slot in zip(rates, slots, strict=True))
            sys.stdout.write(
                f"{name}: {max(rates):.0f} bits/s ({told}), {max(rates) * _ATTEMPT_S:,.0f} in {_ATTEMPT_S} s\n"
            )


def _measure(sandbox: Sandbox, act: str, look: str, begin: float, slot: float) -> float:
    bits = [random.randint(0, 1) for _ in range(_BITS)]
    # Both sides know when the first slot starts, and how long a slot is.
    known = {"start": time.time() + 2, "slot": slot}
    left = _HEAD.format(**known, bits=bits) + _LEFT.format(act=act)
    right = _HEAD.format(**known, bits=[0] * _BITS) + _RIGHT.format(look=look, begin=begin)
    spec = RunnerSpec(1, Limits(time_s=60, wall_s=120))
    with sandbox.open(spec) as one, sandbox.open(spec) as other:
        one.request({"op": "load", "source": left, "entry": "send"})
        other.request({"op": "load", "source": right, "entry": "receive"})
        sending = threading.Thread(target=one.request, args=({"op": "call"}, {"args": []}))
        sending.start()
        _, values = other.request({"op": "call"}, {"args": []})
        sending.join()
    return _through(bits, list(values["result"])) / slot  # type: ignore[call-overload]


def _through(bits: list[int], felt: list[int]) -> float:
    """Return the bits per slot at the best threshold: 1 - H(errors). A series that only grows is differenced first."""
    if sorted(felt) == felt:
        felt = [later - earlier for earlier, later in zip([felt[0], *felt], felt, strict=False)]
    wrong = min(
        sum((value >= limit) != bool(bit) for value, bit in zip(felt, bits, strict=True)) for limit in sorted(set(felt))
    )
    share = min(wrong, len(bits) - wrong) / len(bits)
    return 1.0 if share == 0 else 1 + share * math.log2(share) + (1 - share) * math.log2(1 - share)


if __name__ == "__main__":
    main()
