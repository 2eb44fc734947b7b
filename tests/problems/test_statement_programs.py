"""What a statement says beside a program is what the program prints.

`python -m tests.prove` runs every block (tests/receipts/numbers).
"""

import re
from typing import Any

from tests.problems.passages import blocks
from tests.prove.kind import Receipts
from tests.prove.problems import KINDS, PROBLEMS


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
