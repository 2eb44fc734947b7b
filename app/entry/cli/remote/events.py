"""Reads a stream of server-sent events.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    data: str
    id: str | None


def read_events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """Every complete event. One that is cut off at the end is dropped, as the standard requires."""
    fields: dict[str, str] = {}
    for line in _lines(chunks):
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and "data" in fields else value
        else:
            if "data" in fields:
                yield Event(fields.get("event", "message"), fields["data"], fields.get("id"))
            fields = {}


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # Not str.splitlines (or httpx's iter_lines, which uses it): a verdict may contain U+2028, which ends no line here.
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
