"""How numbers are found in a statement or an editorial, and compared with what was measured.

tests/problems/numbers/<slug>.txt repeats the passages that hold numbers, with an expression instead of each one:
`[[m8.gather.bytes:,]]` stands for the bytes that the reference gathers on 8 devices, grouped by thousands. The receipt
of a problem (tests/receipts/numbers) has the value of each expression. A passage fails if the text does not contain it
as computed, and so does a number with a unit that no passage covers.
"""

import shutil
from pathlib import Path

import pytest

from tests.problems.passages import computed, expressions, plain, value_of
from tests.prove import problems
from tests.prove.kind import Receipts

NUMBERS = problems.KINDS[0]


def test_a_number_that_no_passage_holds_is_found() -> None:
    text = plain("It sends 60{,}256 bytes and\n**1.38** times the FLOPs, in 3 ms; 8 times on 8 devices, since 4 is 4.")
    assert [each.split()[-1] for each in (text[: match.end()] for match in problems.NUMBER.finditer(text))] == [
        "60,256",
        "1.38",
        "3",
    ]
    assert len(problems.uncovered(text, ["sends 60,256 bytes", "in 3 ms"])) == 1


def test_a_passage_is_computed() -> None:
    passage = "sends [[a * 2:,]] bytes, [[a / 3:.2f]]"
    values = {each: value_of(each, {"a": 5000}) for each in ("a * 2:,", "a / 3:.2f")}
    assert computed(passage, values) == "sends 10,000 bytes, 1666.67"


def test_each_expression_is_computed_once() -> None:
    found = expressions("dp_step")
    assert "m8.reduce.bytes:," in found
    assert len(found) == len(set(found))


def test_a_changed_number_in_a_statement_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Receipts().measured(NUMBERS, "dp_step")
    shutil.copytree(problems.PROBLEMS / "dp_step", tmp_path / "dp_step")
    monkeypatch.setattr(problems, "PROBLEMS", tmp_path)
    assert NUMBERS.differences("dp_step", measured) == []
    editorial = tmp_path / "dp_step" / "editorial.md"
    text = editorial.read_text(encoding="utf-8")
    assert "193,060" in plain(text)
    editorial.write_text(text.replace("193,060", "193,061").replace("193{,}060", "193{,}061"), encoding="utf-8")
    found = NUMBERS.differences("dp_step", measured)
    where = "problems/dp_step/editorial.md"
    assert any(each.startswith(f"{where} does not say: ") and "193,060" in each for each in found)
    assert any(each.startswith(f"{where}: no passage of tests/problems/numbers/dp_step.txt holds") for each in found)
    assert all(each.startswith(where) for each in found)


def test_a_block_that_fails_is_named() -> None:
    measured = {"blocks": [{"printed": [""], "error": "NameError: x"}], "numbers": {}}
    [first, *_] = NUMBERS.differences("psum_by_hand", measured | {"numbers": _values("psum_by_hand")})
    assert first == "problems/psum_by_hand: block 1 of its texts ends with NameError: x"


def _values(slug: str) -> dict[str, str]:
    values: dict[str, str] = Receipts().measured(NUMBERS, slug)["numbers"]
    return values


def test_prose_and_unnamed_submissions_decide_nothing_that_is_measured() -> None:
    found = problems.deciding("dp_step", 'other("accepted/reduce_scatter_then_all_gather")')
    names = {path.removeprefix("problems/dp_step/") for path in found}
    assert {"problem.toml", "reference.py", "cases.py", "starter.py"} <= names
    assert [each for each in names if each.startswith("submissions/")] == [
        "submissions/accepted/reduce_scatter_then_all_gather.py"
    ]
    assert not [each for each in names if each.endswith((".md", ".json", ".svg"))]


def test_a_receipt_does_not_say_where_a_program_was_traced() -> None:
    printed = (
        'HloModule f\n\nFileNames\n1 "/a/b.py"\n2 "c.py"\n\nStackFrames\n1 {file_location_id=1}\n\n\n%f {\n'
        '  add, metadata={op_name="f/add" stack_frame_id=11}\n}\n'
    )
    kept = NUMBERS.kept({"blocks": [{"printed": printed, "error": None}], "numbers": {}})
    lines = kept["blocks"][0]["printed"]
    assert lines == ["HloModule f", "", "%f {", '  add, metadata={op_name="f/add"}', "}", ""]


def test_decimals_that_blocks_print_may_differ_in_their_last_digits() -> None:
    kept, close, other = (
        {"blocks": [{"printed": [f"loss {loss}"], "error": None}], "numbers": {"a": "1"}}
        for loss in ("0.123456", "0.123457", "0.124456")
    )
    assert NUMBERS.apart(kept, close) == []
    assert len(NUMBERS.apart(kept, other)) == 1
    assert NUMBERS.apart(kept, kept | {"numbers": {"a": "2"}}) == ["numbers: a: the receipt has '1', measured was '2'"]
