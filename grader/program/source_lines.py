"""Find the source line of an instruction in the tables that precede the computations of an HLO module."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from grader.program.tokens import Tokens, integer, unquoted

# A deeper stack means that the table contains a loop.
_DEEPEST = 1000


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Stack frames by number: the file, the line in it, and the number of the frame that called it (0: none).

    `functions` has the qualified name of each frame's function, such as `step.<locals>.loss`.
    """

    frames: Mapping[int, tuple[str, int, int]]
    functions: Mapping[int, str] = field(default_factory=dict)

    def line(self, metadata: tuple[str, ...], file: str) -> int | None:
        """The innermost line of `file` (its whole name) that led to an instruction.

        Args:
          metadata: tokens of the instruction's metadata.
        """
        fields = _fields(metadata)
        if unquoted(fields.get("source_file", '""')) == file:
            return integer(fields.get("source_line", ""))
        first = integer(fields.get("stack_frame_id", "")) or 0
        number = next(self._frames_from(first, file), None)
        return None if number is None else self.frames[number][1]

    def stack(self, metadata: tuple[str, ...], file: str) -> tuple[str, ...]:
        """The functions of `file` that led to an instruction, the innermost first."""
        number = integer(_fields(metadata).get("stack_frame_id", "")) or 0
        return tuple(self.functions.get(each, "") for each in self._frames_from(number, file))

    def stacks_by_line(self, file: str) -> dict[int, tuple[str, ...]]:
        """For each line of `file`, the functions that led to it, the innermost first, on one of the ways to it."""
        found: dict[int, tuple[str, ...]] = {}
        for number, (of_file, line, _) in self.frames.items():
            if of_file == file and line not in found:
                found[line] = tuple(self.functions.get(each, "") for each in self._frames_from(number, file))
        return found

    def _frames_from(self, number: int, file: str) -> Iterator[int]:
        for _ in range(_DEEPEST):
            frame = self.frames.get(number)
            if frame is None:
                return
            if frame[0] == file:
                yield number
            number = frame[2]


def read_tables(tokens: Tokens, ranges: Mapping[str, tuple[int, int]]) -> SourceLines:
    """Read the tables in these ranges of tokens. An entry that refers to nothing is skipped."""
    files = _strings(tokens, ranges.get("FileNames", (0, 0)))
    names = _strings(tokens, ranges.get("FunctionNames", (0, 0)))
    locations = _records(tokens, ranges.get("FileLocations", (0, 0)))
    records = _records(tokens, ranges.get("StackFrames", (0, 0)))
    # jaxlib 0.10 prints every parent one too high: that of frame 1, which has none, as 1 instead of 0.
    too_high = int(records.get(1, {}).get("parent_frame_id") == 1)
    frames, functions = {}, {}
    for number, record in records.items():
        location = locations.get(record.get("file_location_id", 0), {})
        file = files.get(location.get("file_name_id", 0))
        if file is not None and "line" in location:
            frames[number] = (file, location["line"], record.get("parent_frame_id", 0) - too_high)
            functions[number] = names.get(location.get("function_name_id", 0), "")
    return SourceLines(frames, functions)


def operation_name(metadata: tuple[str, ...]) -> str:
    """What led to an instruction, such as `jit(f)/transpose(jvp())/dot_general`."""
    return unquoted(_fields(metadata).get("op_name", '""'))


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
