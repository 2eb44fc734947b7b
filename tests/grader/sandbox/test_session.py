"""Requests that are sent together, to a process whose end of the channel the test has."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from grader.core import wire
from grader.core.context import NEVER
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.wire import Frame
from grader.package.package import Limits
from grader.sandbox.session import ForkSession
from grader.sandbox.zygote import Fork

FRAMES: list[Frame] = [({"op": "call"}, {"args": [place]}) for place in range(3)]
RIGHT: wire.Message = {"ok": True}
REFUSED: wire.Message = {"ok": False, "reason": "error", "message": "it raised", "detail": {}}
# Longer than anything takes, so that a session that waits for the first reply fails here and not at the test's limit.
HANGS_S = 30


@pytest.fixture
def channel() -> Iterator[tuple[ForkSession, socket.socket]]:
    """A session, and the end of its channel that its process would have."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(HANGS_S)
    with ExitStack() as opened:
        opened.enter_context(theirs)
        pipes = [os.pipe() for _ in range(2)]
        for descriptor in (end for pipe in pipes for end in pipe):
            opened.callback(os.close, descriptor)
        # The number of no process, so that no limit of a submission counts what this process does.
        fork = Fork(0, ours, pipes[0][0], pipes[1][0], pid=0, status=None, ended=threading.Event())
        session = ForkSession(fork)
        session.charge(Limits(time_s=600, wall_s=1200, memory_mb=1 << 16, output_mb=1), NEVER)
        yield session, theirs
        ours.close()


def test_all_requests_are_sent_before_the_first_reply(channel: tuple[ForkSession, socket.socket]) -> None:
    session, theirs = channel
    received: list[object] = []

    def serve() -> None:
        with theirs.makefile("rb") as stream:
            received.extend(wire.read_frame(stream, max_payload_bytes=0)[1]["args"] for _ in FRAMES)
        for reply in (RIGHT, REFUSED, RIGHT):
            theirs.sendall(wire.pack(reply))

    process = threading.Thread(target=serve)
    process.start()
    first, second, third = session.request_each(FRAMES)
    process.join()
    assert received == [[0], [1], [2]]
    assert isinstance(second, SubmissionFault)
    assert second.reason == "error"
    assert not isinstance(first, SubmissionFault)
    assert not isinstance(third, SubmissionFault)


def test_no_reply_is_taken_for_that_of_a_later_request(channel: tuple[ForkSession, socket.socket]) -> None:
    session, theirs = channel
    theirs.sendall(wire.pack(RIGHT) * len(FRAMES))
    replies = session.request_each(FRAMES)
    next(replies)
    with pytest.raises(GraderFault, match="2 replies to earlier requests have not been read"):
        session.request({"op": "load"})


def test_the_rest_gets_the_fault_that_ended_the_process(channel: tuple[ForkSession, socket.socket]) -> None:
    session, theirs = channel
    theirs.sendall(wire.pack(RIGHT) + bytes(wire.HEADER.size))
    first, *rest = session.request_each(FRAMES)
    assert not isinstance(first, SubmissionFault)
    assert len({id(each) for each in rest}) == 1
    assert isinstance(rest[0], SubmissionFault)
