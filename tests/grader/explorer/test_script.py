"""A script in the sandbox: what it prints, why it ended, and what it cannot do."""

import threading

import pytest

from grader.core.context import Context
from grader.core.errors import Cancelled
from grader.explorer import script


@pytest.fixture
def limits(monkeypatch):
    """Of a second and little memory, so that nothing waits for the real ones."""
    monkeypatch.setattr(script, "LIMITS", script.LIMITS.model_copy(update={"time_s": 1.5, "wall_s": 5.0}))


def test_a_script_runs_as_main_on_8_devices(judge):
    found = judge.run_script(
        "import sys\nimport jax\n\nif __name__ == '__main__':\n    print(len(jax.devices()))\n"
        "print('a warning', file=sys.stderr)\nprint('last', end='')"
    )
    assert (found.stdout, found.stderr) == ("8\nlast", "a warning\n")
    assert (found.truncated, found.fault) == (False, None)


def test_a_class_of_a_script_finds_its_module(judge):
    source = (
        "from dataclasses import dataclass\nfrom typing import get_type_hints\n\n@dataclass\nclass Point:\n"
        "    x: 'int'\n\nprint(Point(1), get_type_hints(Point))"
    )
    found = judge.run_script(source)
    assert (found.fault, found.stdout) == (None, "Point(x=1) {'x': <class 'int'>}\n")


def test_an_error_has_its_lines_and_what_was_printed_before(judge):
    found = judge.run_script("def f():\n    return 1 / 0\n\nprint('before')\nf()\nprint('after')\n")
    assert found.stdout == "before\n"
    assert (found.fault.reason, found.fault.line) == ("error", 2)
    assert found.fault.message == (
        "Your code raised an exception:\n  line 5, in <module>\n    f()\n  line 2, in f\n    return 1 / 0\n"
        "ZeroDivisionError: division by zero"
    )


@pytest.mark.parametrize(("code", "reason"), [("", None), ("0", None), ("3", "error"), ("'no'", "error")])
def test_it_may_end_as_scripts_do(judge, code, reason):
    found = judge.run_script(f"import sys\n\nprint('before')\nsys.exit({code})\nprint('after')\n")
    assert found.stdout == "before\n"
    assert (found.fault and found.fault.reason) == reason


def test_a_syntax_error_has_its_line(judge):
    fault = judge.run_script("x = 1\nprint(x\n").fault
    assert (fault.reason, fault.line) == ("syntax_error", 2)
    assert "was never closed" in fault.message


def test_much_output_is_cut_and_a_flood_is_stopped(judge):
    found = judge.run_script("print('x' * 20_000)")
    assert (found.truncated, found.fault) == (True, None)
    assert found.stdout.startswith("x" * 16_000)
    assert len(found.stdout) < 17_000
    flood = judge.run_script("while True:\n    print('x' * 100_000)")
    assert flood.fault.reason == "output_limit"
    assert len(flood.stdout) < 17_000


@pytest.mark.parametrize("wait", ["pass", "time.sleep(1)"])
def test_a_script_that_does_not_end_is_stopped_and_shows_how_far_it_came(judge, limits, wait):
    found = judge.run_script(f"import time\nprint('begun')\nwhile True:\n    {wait}\n")
    assert (found.fault.reason, found.stdout) == ("time_limit", "begun\n")


def test_too_much_memory_is_named(judge):
    fault = judge.run_script("held = bytearray(b'x') * (3 << 30)").fault
    assert fault.reason == "memory_limit"


def test_a_divergent_collective_is_named(judge):
    source = (
        "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import PartitionSpec as P\n"
        "mesh = jax.make_mesh((8,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))\n"
        "def f(x):\n    i = jax.lax.axis_index('x')\n"
        "    return jax.lax.cond(i == 0, lambda y: jax.lax.psum(y, 'x'), lambda y: y * 2, x)\n"
        "g = jax.shard_map(f, mesh=mesh, in_specs=P('x'), out_specs=P('x'), check_vma=False)\n"
        "print(jax.jit(g)(jnp.arange(8.0)))\n"
    )
    assert judge.run_script(source).fault.reason == "divergent_collective"


@pytest.mark.parametrize(
    "attack",
    [
        "import socket\nsocket.socket()",
        "open('/opt/meshgrade/x', 'w')",
        "import os\nos.kill(os.getppid(), 9)",
        "import subprocess\nsubprocess.run(['true'])",
    ],
)
def test_the_walls_of_submissions_stand_around_a_script(judge, attack):
    fault = judge.run_script(attack).fault
    assert fault.reason == "error"
    assert "PermissionError" in fault.message or "Read-only file system" in fault.message


def test_a_script_leaves_nothing_to_the_next(judge):
    source = "from pathlib import Path\nprint(Path('/tmp/left').exists())\nPath('/tmp/left').write_text('x')"
    for _ in range(2):
        assert judge.run_script(source).stdout == "False\n"


@pytest.mark.parametrize(("reply", "reason"), [("bytes(64)", "error"), ("b'x' * 64", "output_limit")])
def test_what_a_script_writes_to_the_channel_is_its_own_fault(judge, reply, reason):
    source = (
        "import os\nfor fd in range(3, 64):\n    try:\n"
        f"        os.write(fd, {reply})\n    except OSError:\n        pass\n"
    )
    assert judge.run_script(source).fault.reason == reason


def test_text_that_cannot_be_stored_is_replaced(judge):
    found = judge.run_script("import sys\nsys.stdout.buffer.write(b'a\\0b\\xff')")
    assert found.stdout == "a␀b\ufffd"


def test_it_is_stopped(judge):
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(Cancelled):
        judge.run_script("while True:\n    pass", Context(stop=stop))
