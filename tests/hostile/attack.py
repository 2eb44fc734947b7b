# ruff: noqa: E501  (rows of a table are easier to read whole)
"""The corpus: one attack per file, with its expectation in line 1.

    \"\"\"expect: rejected/killed; wall: seccomp; says: "text"; pair: group/file. What it does.\"\"\"

`expect` is `accepted`, `rejected` or `rejected/reason|reason`, several joined by ` or `. An attack that gets through
prints CROSSED, or returns a wrong value; one that is stopped says so and returns the right one, which is then
accepted. `wall` names the walls that stop it. `says` must occur in the verdict. `pair` runs at the same time.
`python -m tests.write` writes docs/attacks.md.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "submissions"
_LINE = re.compile(
    r'"""expect: (?P<expect>[a-z_/| ]+)'
    r"(?:; wall: (?P<walls>[a-z, ]+))?"
    r'(?P<says>(?:; says: "[^"]+")*)'
    r"(?:; pair: (?P<pair>[a-z_/]+))?"
    r'\. (?P<what>[A-Z].+\.)"""'
)
_HEAD = """# Attacks on the walls

Each of the {number} attacks is a file in [tests/hostile/submissions](../tests/hostile/submissions). The test suite submits every one of them
and reads its verdict. After each batch of eight, it checks that nothing is left behind; if something is, it finds the attack that
left it. One attack in five also runs on a service without root.
`python -m tests.write` writes this page, and a test compares it with the files.
"""


# These files are not part of the corpus: they attack the code that reads, compiles and runs an exported program.
_PROGRAMS = """
## Exported programs

`tests/grader/test_programs.py` tries these through the whole judge, and `tests/grader/verifier` against the rules alone.
Further ones were tried by hand: five kinds of collectives meeting in different sizes and ten other ways to let devices meet; 49
changed attributes (Shardy meshes, axes and shardings, memory kinds, groups, pairs, aliases), which MLIR or XLA refuses or which change
nothing that is graded; 2,616 random changes of a program's text, of which none crashed MLIR.

| attack | refused because |
|---|---|
| A call declares a larger result than a LAPACK kernel writes, to read the rest of the memory there. | The call does not fit the kernel's rule. |
| A call declares a smaller result than a kernel writes, or another batch, rank or dtype. | The same. |
| Options that a kernel does not check: a side, a triangle, a mode that changes the size of a result. | The rule lists only options that JAX uses. |
| A result that the kernel leaves unwritten with these options is returned. | The program must not read it. |
| `TopK`, `AllocateBuffer`, `PadToStatic` and others are called by name. | Not on the list of targets. |
| A sort with a contradictory comparison leaves its array. | The sort is not stable. |
| A dimension is set at run time to more than the array holds. | The shape is not fixed. |
| Values without a seed, from a host or for a host. | Not on the list of operations. |
| A program crashes the verifier that it shares. | It is run again alone, and charged if it crashes again. |
| Devices take branches with collectives of different sizes, kinds, dtypes, groups, pairs or reducers, so that one size applies to the buffers of all. | Different collectives have different channels, so the devices wait until the program is ended. |
| The same in `lax.switch`, in loops with other numbers of rounds, and in a function that is called twice and merged differently. | The same, or the compiled program lets different collectives meet. |
| Collectives without a channel, with replicas, with other kinds of ids, or a send and a receive. | The program is for partitions only, and only collectives have channels. |
| Damaged bytecode, after which MLIR's reader writes past the end of its memory. | Only text is read. |
| Elements of two bits in a collective, which XLA moves with a wrong width, so that it reads and overwrites other memory. | Types of elements are a closed list, and each of those that run takes whole bytes. |
| 100,000 brackets, 300 loops within one another, or 6,000 operations in a chain overflow the stack of MLIR's reader or of XLA. | They are counted first, and more than 200, 32 or 2,000 are refused. |
| A program for another mesh, other inputs, other devices; bytes that are not a program. | It does not match the request. |
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """One file. `name` is its path in the corpus without `.py`; `expected` has pairs of status and reason or None."""

    name: str
    text: str
    expected: frozenset[tuple[str, str | None]]
    walls: tuple[str, ...]
    says: tuple[str, ...]
    pair: str | None
    what: str

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    def source(self) -> str:
        """The source to submit: the file itself, or what its `make` returns if no file can contain it."""
        if self.group != "made":
            return self.text
        made: dict[str, object] = {}
        exec(compile(self.text, self.name, "exec"), made)
        return str(made["make"]())  # type: ignore[operator]

    def expects(self, status: str, reason: str | None) -> bool:
        return (status, reason) in self.expected or (status, None) in self.expected


def parse(name: str, text: str) -> Attack:
    """Read one attack. Raises ValueError if line 1 does not have the form above."""
    match = _LINE.fullmatch(text.partition("\n")[0])
    if match is None:
        raise ValueError(f"{name}: line 1 is not an expectation")
    expected: set[tuple[str, str | None]] = set()
    for each in match["expect"].split(" or "):
        status, _, reasons = each.partition("/")
        expected |= {(status, reason or None) for reason in reasons.split("|")}
    walls = tuple(match["walls"].split(", ")) if match["walls"] else ()
    says = tuple(re.findall(r'; says: "([^"]+)"', match["says"]))
    return Attack(name, text, frozenset(expected), walls, says, match["pair"], match["what"])


def read_corpus() -> list[Attack]:
    """All attacks, sorted by name."""
    paths = sorted(FOLDER.rglob("*.py"))
    return [parse(str(path.relative_to(FOLDER).with_suffix("")), path.read_text()) for path in paths]


def table(attacks: list[Attack]) -> str:
    """The text of docs/attacks.md."""
    lines = [_HEAD.format(number=len(attacks))]
    for group in dict.fromkeys(attack.group for attack in attacks):
        lines += [f"## {group.capitalize()}", "", "| attack | stopped by | what it does |", "|---|---|---|"]
        lines += [
            f"| {attack.name.partition('/')[2]} | {', '.join(attack.walls)} | {attack.what} |"
            for attack in attacks
            if attack.group == group
        ]
        lines.append("")
    return "\n".join(lines) + _PROGRAMS
