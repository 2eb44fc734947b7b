"""A call in a process of its own ends at its limit, harms no other call, and ends with the service."""

import asyncio
import os
import select
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.core import bounded_calls as module
from app.core.bounded_calls import BoundedCallFailed, LimitExceeded, bounded, bounded_in_thread, end_processes
from tests.app import calls

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _no_process_before() -> None:
    end_processes()


async def test_a_result_is_what_the_function_returns() -> None:
    assert await bounded(calls.matches, "a+", "aa", cpu_s=5) is True
    assert await bounded(os.getpid, cpu_s=5) == await bounded(os.getpid, cpu_s=5) != os.getpid()
    assert bounded_in_thread(textwrap.dedent, "  \ud800é", cpu_s=5) == "\ud800é"


async def test_a_call_beyond_its_time_is_ended_and_the_next_ones_are_served() -> None:
    """A regular expression holds the interpreter's lock: no thread, and no handler of a signal, could end it."""
    slow = asyncio.create_task(bounded(calls.matches, "(a+)+b", "a" * 64, cpu_s=1))
    others = await asyncio.gather(*(bounded(calls.matches, "a", "a", cpu_s=1) for _ in range(5)))
    assert others == [True] * 5
    with pytest.raises(LimitExceeded, match=r"^takes over 1 s of CPU time$"):
        await slow
    assert await bounded(calls.matches, "a", "b", cpu_s=1) is False


async def test_others_are_served_while_a_call_takes_long(tmp_path: Path) -> None:
    end = tmp_path / "end"
    slow = asyncio.create_task(bounded(calls.wait_for_file, str(end), cpu_s=60))
    others = await asyncio.gather(*(bounded(calls.matches, "a", "a", cpu_s=60) for _ in range(5)))
    assert others == [True] * 5
    assert not slow.done()
    end.touch()
    assert await slow is True


async def test_the_limit_is_for_each_call_and_not_for_the_process() -> None:
    # On a busy machine, the kernel can count more time against the limit than a call uses: so each uses a third of it.
    burnt = [await bounded(calls.burn, 0.3, cpu_s=1) for _ in range(8)]
    assert len(set(burnt)) == 1


async def test_a_call_beyond_its_memory_or_depth_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="over 2 GiB of memory"):
        await bounded(calls.zeros, 3 << 30, cpu_s=5)
    with pytest.raises(LimitExceeded, match="nested too deeply"):
        await bounded(calls.deep, cpu_s=5)


async def test_a_fault_of_the_function_is_no_limit() -> None:
    with pytest.raises(BoundedCallFailed, match=r"matches failed: (re\.)?(error|PatternError): "):
        await bounded(calls.matches, "(", "", cpu_s=5)


async def test_a_process_that_ended_while_it_waited_is_replaced() -> None:
    first = await bounded(os.getpid, cpu_s=5)
    handle = os.pidfd_open(first)
    os.kill(first, 9)
    try:
        assert (await asyncio.to_thread(select.select, [handle], [], [], 60))[0]
    finally:
        os.close(handle)
    assert await bounded(os.getpid, cpu_s=5) != first


async def test_no_environment_of_the_service_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESHGRADE_SECRET", "x")
    assert await bounded(calls.environment, cpu_s=5) is None


def test_processes_end_with_a_service_that_is_killed() -> None:
    start = "import os\nfrom app.core.bounded_calls import *\n"
    code = f"{start}print(bounded_in_thread(os.getpid, cpu_s=5), flush=True)\ninput()"
    root = Path(module.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        handle = os.pidfd_open(int(service.stdout.readline()))
        service.kill()
    try:
        assert select.select([handle], [], [], 60)[0]
    finally:
        os.close(handle)
