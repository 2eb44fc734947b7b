"""Find the source line of an instruction in the tables that precede the computations of an HLO module."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.program.tokens import Tokens, integer, unquoted

# A deeper stack means that the table contains a loop.
_DEEPEST = 1000


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Stack frames by number: the file, the line in it, and the number of the frame that called it (0: none)."""

    frames: Mapping[int, tuple[str, int, int]]

    def line(self, metadata: tuple[str, ...], file: str) -> int | None:
        """The innermost line of `file` (a name without folders) that led to an instruction.

        Args:
          metadata: tokens of the instruction's metadata.
        """
        fields = _fields(metadata)
        if _base(unquoted(fields.get("source_file", '""'))) == file:
            return integer(fields.get("source_line", ""))
        number = integer(fields.get("stack_frame_id", "")) or 0
        for _ in range(_DEEPEST):
            frame = self.frames.get(number)
            if frame is None:
                return None
            if _base(frame[0]) == file:
                return frame[1]
            number = frame[2]
        return None


def read_tables(tokens: Tokens, ranges: Mapping[str, tuple[int, int]]) -> SourceLines:
    """Read the tables in these ranges of tokens. An entry that refers to nothing is skipped."""
    files = _strings(tokens, ranges.get("FileNames", (0, 0)))
    locations = _records(tokens, ranges.get("FileLocations", (0, 0)))
    records = _records(tokens, ranges.get("StackFrames", (0, 0)))
    # jaxlib 0.10 prints every parent one too high: that of frame 1, which has none, as 1 instead of 0.
    too_high = int(records.get(1, {}).get("parent_frame_id") == 1)
    frames = {}
    for number, record in records.items():
        location = locations.get(record.get("file_location_id", 0), {})
        file = files.get(location.get("file_name_id", 0))
        if file is not None and "line" in location:
            frames[number] = (file, location["line"], record.get("parent_frame_id", 0) - too_high)
    return SourceLines(frames)


def _strings(tokens: Tokens, found: tuple[int, int]) -> dict[int, str]:
    start, end = found
    return {
        number: unquoted(tokens[index + 1])
        for index in range(start, end - 1, 2)
        if (number := integer(tokens[index])) is not None
    }


def _records(tokens: Tokens, found: tuple[int, int]) -> dict[int, dict[str, int]]:
    index, end = found
    records = {}
    while index + 1 < end and tokens[index + 1] == "{":
        close = tokens.partners[index + 1]
        fields = _fields(tuple(tokens.items[index + 1 : close]))
        number = integer(tokens[index])
        if number is not None:
            records[number] = {key: value for key, text in fields.items() if (value := integer(text)) is not None}
        index = close + 1
    return records


def _fields(tokens: tuple[str, ...]) -> dict[str, str]:
    """Read `{a=1 b="x"}`, which has no commas, as a dict."""
    return {tokens[i - 1]: tokens[i + 1] for i in range(1, len(tokens) - 1) if tokens[i] == "="}


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]
