"""Messages between the API processes of one service on one machine.

The first process starts the others, and has a pair of connected sockets with each. No file is left behind, and nobody
else can connect. A message is a line of JSON. What one process sends reaches all others, through the first.
"""

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger(__name__)

Receive = Callable[[Mapping[str, Any]], None]
_MAX_LINE_BYTES = 1 << 16
# Of one neighbour that reads nothing. Nothing depends on a message, because everyone who waits also reads the database.
_MAX_UNREAD_BYTES = 1 << 20


class Neighbours:
    """The other API processes. Belongs to one event loop. Without any, a message reaches nobody.

    Args:
      number: of this process. The first has 1.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self._receivers: dict[str, Receive] = {}
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def is_first(self) -> bool:
        """Whether this process started the others. It locks the data folder, and grades if anything here does."""
        return self.number == 1

    @property
    def are_there(self) -> bool:
        """Whether a message would reach anyone."""
        return bool(self._writers)

    def on(self, topic: str, receive: Receive) -> None:
        """Call this with each message of the topic that another process sends."""
        self._receivers[topic] = receive

    def send(self, topic: str, **content: object) -> None:
        """Send a message to every other process."""
        if self.are_there:
            self._pass_on(json.dumps({"topic": topic, **content}).encode() + b"\n")

    async def talk(self, sock: socket.socket) -> None:
        """Exchange messages with the process at the other end of this socket until that ends."""
        reader, writer = await asyncio.open_unix_connection(sock=sock, limit=_MAX_LINE_BYTES)
        self._writers.add(writer)
        try:
            while line := await _next_line(reader):
                self._receive(line, writer)
        except ConnectionError:
            log.info("a neighbour has ended")
        finally:
            self._writers.discard(writer)
            writer.close()

    def _receive(self, line: bytes, sender: asyncio.StreamWriter) -> None:
        try:
            message = json.loads(line)
            self._receivers[message["topic"]](message)
        except (ValueError, KeyError, TypeError):
            # It may run another version of the code, if it was started again during an upgrade.
            log.warning("a message of a neighbour cannot be understood")
        else:
            self._pass_on(line, sender)

    def _pass_on(self, line: bytes, sender: asyncio.StreamWriter | None = None) -> None:
        for writer in self._writers - {sender}:
            if writer.transport.get_write_buffer_size() < _MAX_UNREAD_BYTES:
                writer.write(line)


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    """Empty at the end. A line that is too long is left out."""
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            log.warning("a message of a neighbour is too long")
            continue
        return line if line.endswith(b"\n") else b""
