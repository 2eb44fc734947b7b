"""Behind the filter, a futex that is not private still works within the process: libstdc++ waits on such ones."""

import subprocess
import sys
import textwrap

import pytest

from grader.confined.futexes import can_be_made_private

WAITS = """
    import ctypes, threading, time
    from grader.confined import futexes, kernel
    from grader.sandbox.syscalls import compile_filter

    program = compile_filter()
    kernel.forbid_new_privileges()
    futexes.make_private()
    kernel.install_filter(program)

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    word = ctypes.c_uint32(7)
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(syscall(202, ctypes.byref(word), 0, 7, None, None, 0)), daemon=True
    )
    waiting.start()
    for _ in range(2000):
        if syscall(202, ctypes.byref(word), 1, 2**31 - 1, None, None, 0) == 1:
            break
        time.sleep(0.02)
    waiting.join(60)
    print(answers)
    print(syscall(202, ctypes.byref(word), 0, 8, None, None, 0), ctypes.get_errno())
"""


@pytest.mark.skipif(not can_be_made_private(), reason="machine code of x86-64")
def test_a_waiting_thread_sleeps_until_another_one_wakes_it():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(WAITS)], capture_output=True, text=True, timeout=60)
    # Woken once; and EAGAIN if the word does not have the expected value.
    assert done.stdout.split("\n")[:2] == ["[0]", "-1 11"], done.stderr
