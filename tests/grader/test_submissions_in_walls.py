"""Real submissions in real walls: the messages to students, and the failures of hostile ones."""

import json
import threading
import time
from pathlib import Path

import pytest

from grader.core.context import Context
from grader.core.errors import Cancelled
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.build import PooledSandbox
from grader.sandbox.usage import descendants
from grader.sandbox.walls import wall_names
from grader.verdicts.verdict import Verdict

RIGHT = "\ndef add_one(x):\n    return x + 1\n"


def assert_nothing_is_left(sandbox: PooledSandbox) -> None:
    """Below bwrap there are only its init, the zygote, and the waiting forks, including verifiers."""
    deadline = time.monotonic() + 60
    while True:
        stats = sandbox.stats()
        assert stats.root is not None
        if len(descendants(stats.root)) == 4 + len(stats.pids) + len(sandbox._verifiers.pids()):
            return
        assert time.monotonic() < deadline, "a process of the sandbox is left"
        time.sleep(0.01)


@pytest.fixture
def grade(judge: Judge, sandbox: PooledSandbox, add_one: Package):
    # A test before this one may have had inputs drawn, in a runner that is kept for half a minute.
    judge._modes._draws.let_go()

    def run(source: str) -> Verdict:
        verdict = judge.judge(add_one, source)
        assert_nothing_is_left(sandbox)
        return verdict

    return run


def test_every_known_submission_of_the_package_gets_its_verdict(judge, add_one):
    for known in (*add_one.accepted, *add_one.rejected):
        verdict = judge.judge(add_one, known.source)
        assert (verdict.status, verdict.reason) == ("rejected" if known.reason else "accepted", known.reason)
        assert verdict.misconception == (known.misunderstanding if known.reason else None)


def test_the_verdict_names_the_walls(grade):
    verdict = grade(RIGHT)
    assert (verdict.status, verdict.score, verdict.walls) == ("accepted", 100, wall_names())


@pytest.mark.parametrize(
    ("source", "reason", "said"),
    [
        ("x = [\n", "syntax_error", "SyntaxError on line 1, column 5: '[' was never closed"),
        ("def add_one(x):\nreturn x\n", "syntax_error", "IndentationError on line 2"),
        ("(" * 100_000, "syntax_error", ""),
        ("def add_two(x):\n    return x\n", "missing_entry", "It defines `add_two`"),
        ("add_one = 3\n", "missing_entry", "must be a function"),
        ("import not_there\n", "error", "ModuleNotFoundError: No module named 'not_there'"),
        ("import os\nos._exit(0)\n", "killed", "ended itself (exit code 0)"),
        ("raise SystemExit(0)\n", "error", "SystemExit"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "error", "must not start or signal processes"),
        ("while True:\n    pass\n", "time_limit", "3 s of CPU time"),
        ("import time\ntime.sleep(60)\n", "time_limit", "8 s, most of which it spent waiting"),
        ("\nx = bytearray(10**11)\n", "memory_limit", "line 2, in <module>\n    x = bytearray(10**11)\nMemoryError"),
        ("x = []\nwhile True:\n    x.append(b'1' * 2**24)\n", "memory_limit", "1,024 MiB"),
        (
            "x = []\nwhile True:\n    x.append(b'1' * 2**24)\n",
            "memory_limit",
            "This happened while your file was loaded, before `add_one` was called.",
        ),
        ("import os\nwhile True:\n    os.write(1, b'x' * 65536)\n", "output_limit", "printed over 64 MiB"),
        ("while True:\n    print(1, flush=True)\n", "output_limit", "while it was still printing"),
        ("import os\nos.closerange(0, 256)\n", "killed", ""),
        (
            "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'A' * 99)\n    except OSError: pass\n",
            "output_limit",
            "",
        ),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else None,
)
def test_a_submission_that_does_not_get_to_a_case_is_told_why(grade, source, reason, said):
    verdict = grade(source)
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", reason, 0)
    assert said in verdict.checks[0].message


def test_an_exception_shows_the_submissions_own_frames_and_no_others(grade):
    verdict = grade(
        "import jax\n\ndef add_one(x):\n    return jax.jit(inner)(x)\n\ndef inner(x):\n    return x @ x.T.T.nope\n"
    )
    message = verdict.cases[0].message
    assert verdict.reason == "error"
    assert "line 4, in add_one\n    return jax.jit(inner)(x)" in message
    assert "line 7, in inner\n    return x @ x.T.T.nope" in message
    assert "AttributeError" in message
    assert "site-packages" not in message
    assert "runner" not in message


@pytest.mark.parametrize(
    ("body", "reason", "said"),
    [
        ("return float(x[0]) + 1", "wrong_structure", "expected an array, got a Python float"),
        ("return x[:1] + 1", "wrong_shape", "expected shape (2,), got (1,)"),
        (
            "import numpy as np; return np.asarray(x, np.float64) + 1",
            "wrong_dtype",
            "expected dtype float32, got float64",
        ),
        ("return x * float('nan')", "wrong_value", "Your result contains NaN"),
        ("return object()", "wrong_structure", "a value of type builtins.object"),
        ("return", "wrong_structure", "Is a `return` missing?"),
        ("import jax; return jax.random.key(0)", "wrong_structure", "a PRNG key array"),
        ("y = []; y.append(y); return y", "error", "RecursionError"),
        ("y = x\n    for _ in range(40): y = [y]\n    return y", "output_limit", "nested deeper"),
        ("import numpy as np; return np.zeros(10**7, np.float32)", "output_limit", ""),
        ("import sys; sys.exit(0)", "error", "SystemExit"),
        ("import os; os._exit(0)", "killed", "ended itself"),
        ("return add_one(x)", "error", "RecursionError"),
    ],
)
def test_a_wrong_result_is_told_apart(grade, body, reason, said):
    verdict = grade(f"def add_one(x):\n    {body}\n")
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", reason, 0)
    assert said in verdict.cases[0].message


@pytest.mark.parametrize(
    "body",
    [
        "class E(Exception):\n        def __str__(self): raise SystemExit\n    raise E",
        "class E(Exception):\n        def __str__(self): return '\\ud800' * 10**6\n    raise E",
        "class L(list):\n        def __iter__(self): raise KeyboardInterrupt\n    return L([x])",
        "class A:\n        __array__ = lambda *a: x + 1\n        __eq__ = lambda *a: True\n    return A()",
        "import numpy as np\n    return np.asarray([x + 1, None], object)",
    ],
    ids=["str raises", "str floods", "list subclass", "always equal", "object array"],
)
def test_hostile_objects_are_rejected_and_stored(grade, body):
    verdict = grade(f"def add_one(x):\n    {body}\n")
    assert verdict.status == "rejected"
    json.dumps(verdict.model_dump(mode="json")).encode()


def test_patched_libraries_fool_nobody(grade):
    source = """
import json, struct, numpy as np, jax, jax.numpy as jnp
jnp.allclose = np.allclose = lambda *a, **k: True
np.ndarray.__eq__ = None if False else np.ndarray.__eq__
json.loads = lambda *a, **k: {"ok": True, "values": {}}
struct.pack = lambda *a: b""

def add_one(x):
    return x
"""
    assert grade(source).status == "rejected"


def test_print_is_kept_in_part_and_marked(grade):
    verdict = grade("print('start')\nprint('x' * 10**6)\n" + RIGHT)
    assert verdict.status == "accepted"
    assert verdict.truncated
    assert verdict.stdout.startswith("start\nxxx")
    assert len(verdict.stdout) < 20_000
    assert "cut" in verdict.stdout


def test_what_is_printed_in_hidden_cases_is_not_shown(grade):
    verdict = grade("import sys\ndef add_one(x):\n    print('saw', x.tolist(), file=sys.stderr)\n    return x + 1\n")
    assert verdict.status == "accepted"
    assert verdict.stderr == "saw [1.0, 2.0]\n"


def test_a_submission_sees_nothing_of_the_host(grade, tmp_path, monkeypatch):
    canary = tmp_path / "canary"
    canary.write_text("canary-7f3a")
    canary.chmod(0o644)
    monkeypatch.setenv("MESHGRADE_OWNER_TOKEN", "canary-7f3a")
    source = (
        f"""
import os, socket
for path in ({str(canary)!r}, "/proc/self/environ", "/proc/1/environ", "/etc/passwd", "/etc/hostname"):
    try: print(path, open(path).read())
    except OSError: pass
print(dict(os.environ))
for folder in ("/", "/dev/pts", {str(Path(__file__).resolve().parents[2])!r}):
    try: print("listed", os.listdir(folder))
    except OSError: pass
print(os.listdir("/tmp"))
try: print("connected", socket.create_connection(("127.0.0.1", 22), timeout=1))
except OSError: pass
print("uid", os.getuid())
"""
        + RIGHT
    )
    verdict = grade(source)
    assert verdict.status == "accepted"
    for secret in ("canary-7f3a", "root:", "connected", "listed", "uid 0"):
        assert secret not in verdict.stdout
    assert verdict.stdout.endswith("\n")


def test_nothing_can_be_written_but_scratch(grade):
    source = (
        """
import os, jax
for path in ("/x", jax.__file__, "/dev/shm/x", "/usr/lib/x", "/opt/meshgrade/grader/core/wire.py", "/tmp/x"):
    try:
        with open(path, "a") as file: file.write("x")
        print("wrote", path)
    except OSError: pass
"""
        + RIGHT
    )
    assert grade(source).stdout == "wrote /tmp/x\n"


def test_scratch_is_bounded(grade):
    source = (
        """
try:
    with open("/tmp/x", "wb") as file:
        for _ in range(200): file.write(b"1" * 2**20)
    print("filled")
except OSError as error:
    print("stopped")
"""
        + RIGHT
    )
    assert grade(source).stdout == "stopped\n"


def test_starting_a_process_is_refused_and_explained(grade):
    for source in ("import os\nos.fork()\n", "import subprocess\nsubprocess.run(['/bin/true'])\n"):
        verdict = grade(source + RIGHT)
        assert (verdict.status, verdict.reason) == ("rejected", "error")
        assert "PermissionError" in verdict.checks[0].message
        assert "must not start or signal processes" in verdict.checks[0].message


def test_inputs_arrive_only_after_the_import(grade):
    source = (
        """
import gc, sys
import numpy as np
early = [value for value in gc.get_objects() if isinstance(value, np.ndarray) and value.shape == (2,)]
print(len(early))
"""
        + RIGHT
    )
    assert grade(source).stdout == "0\n"


def test_grading_can_be_stopped(judge, sandbox, add_one):
    stop = threading.Event()
    judge.prepare(add_one)
    threading.Timer(1, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        judge.judge(add_one, "import time\ntime.sleep(100)\n", Context(stop=stop))
    assert time.monotonic() - started < 60
    assert_nothing_is_left(sandbox)
