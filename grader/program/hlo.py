"""Parse the HLO text of a compiled program into computations and instructions.

Grammar: https://github.com/openxla/xla/blob/main/xla/hlo/parser/hlo_parser.cc
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from grader.program.shapes import Shape, ShapeTree, read_shape
from grader.program.source_lines import SourceLines, read_tables
from grader.program.tokens import ProgramUnreadable, Tokens, cut_hlo, integer, shown

# The tokens of an attribute's value: ("{", "0", ",", "1", "}").
Value: TypeAlias = tuple[str, ...]
_TABLES = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line: `name = shape opcode(operands), attributes`.

    Attributes:
      operands: names of instructions of the same computation. Empty for constants and parameters.
      literal: the tokens between the parentheses of a constant or parameter.
    """

    name: str
    shape: ShapeTree
    opcode: str
    operands: tuple[str, ...]
    literal: Value
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Computation:
    """Instructions by name, in printed order, which is the schedule in a compiled program."""

    name: str
    instructions: Mapping[str, Instruction]
    root: str

    def operand(self, instruction: Instruction, index: int) -> Instruction:
        """The instruction that computes an operand."""
        if index >= len(instruction.operands):
            raise ProgramUnreadable(f"{shown(instruction.name)} has no operand {index}")
        found = self.instructions.get(instruction.operands[index])
        if found is None:
            raise ProgramUnreadable(
                f"{shown(instruction.name)} uses {shown(instruction.operands[index])}, which {shown(self.name)} lacks"
            )
        return found


@dataclass(frozen=True, slots=True)
class Module:
    """A whole program. `attributes` are those of its first line: num_partitions, input_output_alias and others."""

    name: str
    attributes: Mapping[str, Value]
    computations: Mapping[str, Computation]
    entry: Computation
    source: SourceLines


def read_hlo(text: str) -> Module:
    """Read a module.

    Args:
      text: from `compiled.as_text()`, with or without `%`, operand types, layouts and comments.
    Raises:
      ProgramUnreadable: the text is not HLO; the message names the line and what was expected there.
    """
    return _Reader(cut_hlo(text)).module()


def reference(token: str) -> str:
    """The name that `%name` or `name` refers to."""
    return token.removeprefix("%")


def integers(value: Value) -> tuple[int, ...]:
    """All numbers in a value such as `{0,1}`."""
    return tuple(number for token in value if (number := integer(token)) is not None)


class _Reader:
    """Reads the tokens once, from left to right. Every method leaves `at` after what it read."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.at = 0

    def module(self) -> Module:
        self._take("HloModule")
        name = self._name("the module's name")
        attributes = self._attributes()
        tables: dict[str, tuple[int, int]] = {}
        computations: dict[str, Computation] = {}
        entry = None
        while self.at < self.tokens.end:
            start = self.at
            word = self._word()
            if word in _TABLES and self.tokens[start + 1] != "(":
                tables[word] = self._table()
                continue
            is_entry = word == "ENTRY" and self.tokens[start + 1] not in {"(", "{"}
            self.at += is_entry
            computation = self._computation()
            if computation.name in computations:
                raise self.tokens.error(start + is_entry, "a computation of another name than those before")
            computations[computation.name] = computation
            if is_entry:
                if entry is not None:
                    raise self.tokens.error(start, "one ENTRY computation only")
                entry = computation
        if entry is None:
            raise self.tokens.error(self.at, "an ENTRY computation")
        return Module(name, attributes, computations, entry, read_tables(self.tokens, tables))

    def _table(self) -> tuple[int, int]:
        """Skip `FileNames 1 "a.py" 2 "b.py"` or `StackFrames 1 {…} 2 {…}`, and return the range of its entries."""
        self.at += 1
        start = self.at
        while integer(self._word()) is not None:
            value = self.tokens[self.at + 1]
            if value == "{":
                self.at = self.tokens.partners[self.at + 1] + 1
            elif value[:1] == '"':
                self.at += 2
            else:
                raise self.tokens.error(self.at + 1, "a string or {…}")
        return start, self.at

    def _computation(self) -> Computation:
        name = self._name("the name of a computation")
        if self._word() == "(":
            self._skip_brackets()
        if self._word() == "->":
            self.at += 1
            _, self.at = read_shape(self.tokens, self.at)
        self._take("{")
        instructions: dict[str, Instruction] = {}
        root = last = None
        while self._word() != "}":
            start = self.at
            is_root = self._word() == "ROOT" and self.tokens[self.at + 1] != "="
            self.at += is_root
            instruction = self._instruction()
            if instruction.name in instructions:
                raise self.tokens.error(start, "an instruction of another name than those before")
            instructions[instruction.name] = instruction
            last = instruction.name
            if is_root:
                if root is not None:
                    raise self.tokens.error(start, "one ROOT instruction only")
                root = instruction.name
        root = root or last
        if root is None:
            raise self.tokens.error(self.at, "an instruction")
        self.at += 1
        if self._word() == ",":
            self._attributes()
        return Computation(name, instructions, root)

    def _instruction(self) -> Instruction:
        name = self._name("the name of an instruction")
        self._take("=")
        shape, self.at = read_shape(self.tokens, self.at)
        opcode = self._word()
        if not (opcode[:1].isalpha() and self.tokens[self.at + 1] == "("):
            raise self.tokens.error(self.at, "an operation, such as add(")
        self.at += 1
        inside = self.at + 1, self.tokens.partners[self.at]
        self._skip_brackets()
        literal: Value = ()
        operands: tuple[str, ...] = ()
        if opcode in {"constant", "parameter"}:
            literal = tuple(self.tokens.items[slice(*inside)])
        else:
            operands = tuple(self._operands(*inside))
        return Instruction(name, shape, opcode, operands, literal, self._attributes())

    def _operands(self, start: int, end: int) -> Iterator[str]:
        """Names between `start` and `end`, each the last token before a comma: `%a, f32[2]{0} %b, (f32[], s32[]) c`."""
        index, last = start, None
        while index < end:
            token = self.tokens[index]
            if token == ",":
                if last is None:
                    raise self.tokens.error(index, "an operand")
                yield last
                last = None
            elif token in {"(", "[", "{"}:
                index = self.tokens.partners[index]
                last = None
            else:
                last = reference(token)
            index += 1
        if last is not None:
            yield last
        elif start < end:
            raise self.tokens.error(end, "an operand")

    def _attributes(self) -> dict[str, Value]:
        attributes: dict[str, Value] = {}
        while self._word() == ",":
            self.at += 1
            start = self.at
            key = self._name("the name of an attribute")
            self._take("=")
            if key in attributes:
                raise self.tokens.error(start, "an attribute once only")
            attributes[key] = self._value()
        return attributes

    def _value(self) -> Value:
        """Read one value, such as `[2,4]<=[8]T(1,0)`, `b01f_01io->b01f` or `mesh[…] {…}`."""
        start = self.at
        self._unit()
        while True:
            word, following = self._word(), self.tokens[self.at + 1]
            if word in {"<=", "->"}:
                self.at += 1
                self._unit()
            elif word in {"[", "{"} or (word == "T" and following == "("):
                self.at += word == "T"
                self._skip_brackets()
            elif word == "," and following == "device_ids" and self.tokens[start] == "mesh":
                self.at += 3
                self._skip_brackets()
            else:
                return tuple(self.tokens.items[start : self.at])

    def _unit(self) -> None:
        word = self._word()
        if word in {"(", "[", "{"}:
            self._skip_brackets()
        elif word[:1].isalnum() or word[:1] in {"%", '"', "_", "-", "'"}:
            self.at += 1
        else:
            raise self.tokens.error(self.at, "a value")

    def _skip_brackets(self) -> None:
        if self._word() not in {"(", "[", "{"}:
            raise self.tokens.error(self.at, "a bracket")
        self.at = self.tokens.partners[self.at] + 1

    def _name(self, what: str) -> str:
        name = reference(self._word())
        if not (name[:1].isalnum() or name[:1] in {"_", ".", "-"}):
            raise self.tokens.error(self.at, what)
        self.at += 1
        return name

    def _take(self, word: str) -> None:
        if self._word() != word:
            raise self.tokens.error(self.at, repr(word))
        self.at += 1

    def _word(self) -> str:
        return self.tokens[self.at]


__all__ = ["Computation", "Instruction", "Module", "Shape", "ShapeTree", "Value", "integers", "read_hlo", "reference"]
