"""What a statement says beside a program is what the program prints, and every block is Python.

`python -m tests.prove` runs every block (tests/receipts/numbers).
"""

import ast
import re
from typing import Any

from tests.problems.passages import blocks
from tests.prove.kind import Receipts
from tests.prove.problems import KINDS, PROBLEMS, slugs


def _first(slug: str) -> tuple[str, str]:
    """What the first block of a problem prints, and its code."""
    ran: list[dict[str, Any]] = Receipts().measured(KINDS[0], slug)["blocks"]
    _, code = next(blocks(PROBLEMS / slug))
    return "\n".join(ran[0]["printed"]), code


def test_blocks_that_print_print_what_the_comment_beside_them_says() -> None:
    """`print(...)  # text`, where the text is what is printed; words around it are left out."""
    gradients, code = _first("dp_shard_map")
    assert re.findall(r"[\d.]+", re.sub(r"dtype=\w+", "", gradients)) == [f"{number}." for number in (36, *range(1, 9))]
    assert "# 36.0 and [1. 2. 3. 4. 5. 6. 7. 8.]" in code
    placed, code = _first("dp_step")
    assert placed.strip() in ("P()", "PartitionSpec()")
    assert "print(gradient(w, x).sharding.spec)  # P()" in code
    traced, _ = _first("psum_scatter_mean")
    assert (len(re.findall(r"= all_gather\[", traced)), len(re.findall(r"= reduce_scatter\[", traced))) == (1, 1)


def test_every_block_is_python() -> None:
    """Hints and editorials print parts of a solution, which need not run alone; `...` stands for what is left out."""
    wrong = []
    for path in (PROBLEMS / slug / name for slug in slugs() for name in ("statement.md", "hints.md", "editorial.md")):
        text = path.read_text(encoding="utf-8")
        for code in re.findall(r"^```python[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            try:
                # A `return` is one of the function that it was taken from.
                ast.parse("def part():\n" + "".join(f"    {line}\n" for line in code.splitlines()))
            except SyntaxError as error:
                wrong.append(f"{path.relative_to(PROBLEMS)}: {error} in\n{code}")
    assert wrong == []
