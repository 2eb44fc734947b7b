"""What a process and all that it started have used."""

import os
import subprocess
import sys

from grader.sandbox.usage import cpu_s_below

BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_cpu_time_of_what_has_ended_counts():
    before = cpu_s_below(os.getpid())
    subprocess.run(
        [sys.executable, "-S", "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"],
        check=True,
    )
    assert cpu_s_below(os.getpid()) - before >= 0.25
