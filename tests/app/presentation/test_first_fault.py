"""The sentence and the drawing at the top of a verdict."""

from typing import Literal

import pytest

from app.core.web.templating import ENVIRONMENT
from app.presentation.drawings.placement import Mesh
from app.presentation.drawings.share_card import HEIGHT, WIDTH, draw_card
from app.presentation.fault_views import view_shapes
from app.presentation.verdict_view import VerdictView, arrange_verdict
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    CollectiveCall,
    Collectives,
    Difference,
    FailedCase,
    Fault,
    Leaves,
    Limit,
    ShapePair,
)
from grader.verdicts.verdict import Verdict
from tests.app.program_verdict import leaf, program_verdict

MESH = {"fsdp": 4}
LINES = {"title": "Average gradients", "sentence": "Accepted, 100 of 100"}


def verdict(*evidence: object, headlines: tuple[str, ...] = (), passed: bool = False) -> Verdict:
    given = program_verdict("fsdp_step", wrong=not passed)
    update = {"evidence": list(evidence), "headlines": list(headlines), "passed": passed, "message": "In full."}
    check = given.checks[0].model_copy(update=update)
    return given.model_copy(update={"checks": [check]})


def draw(view: VerdictView, **context: object) -> str:
    return ENVIRONMENT.get_template("grading/fragments/verdict.html").render(view=view, attempt_url="/a", **context)


def test_each_fault_is_a_sentence_and_the_first_is_the_headline() -> None:
    sentences = tuple(f"`w{number}` is whole on every device." for number in range(7))
    view = arrange_verdict(verdict(headlines=sentences))
    assert (view.headline, view.more, view.first_fault) == (sentences[0], sentences[1:], "")
    html = draw(view)
    assert "<h3><code>w0</code> is whole on every device.</h3>" in html
    assert "<code>w2</code>" in html
    assert "<code>w3</code>" not in html
    assert "And 4 more, in the checks below." in html


def test_a_verdict_without_headlines_begins_with_its_message() -> None:
    view = arrange_verdict(verdict())
    assert (view.headline, view.more, view.first_fault) == ("Wrong sharding", (), "In full.")


def test_a_traceback_stays_beside_its_headline() -> None:
    view = arrange_verdict(verdict(Fault(type="ValueError"), headlines=("ValueError: no",)))
    assert (view.headline, view.first_fault) == ("ValueError: no", "In full.")


def test_the_first_fault_is_drawn_on_one_mesh() -> None:
    right = leaf(MESH, "a", [8, 8], [("fsdp",)])
    wrong = leaf(MESH, "b", [8, 8], [("fsdp",)], [()])
    view = arrange_verdict(verdict(Leaves(mesh=MESH, leaves=[right, wrong])))
    assert view.picture is not None
    assert view.picture.leaf is not None
    assert (view.picture.leaf.name, view.picture.mesh) == ("b", Mesh((("fsdp", 4),)))
    top = draw(view).partition('class="gauges"')[0]
    assert top.index("Yours") < top.index("Expected")
    assert top.count('class="drawing') == 2


def test_of_amounts_only_those_out_of_bounds_are_drawn() -> None:
    rows = [Amount(name=name, mine=mine, reference=5, whole=None, at_most=9) for name, mine in (("a", 1), ("b", 10))]
    amounts = Amounts(mesh=MESH, title="Bytes", unit="bytes", whole_title="whole", rows=rows)
    picture = arrange_verdict(verdict(amounts)).picture
    assert picture is not None
    [bars] = picture.bars
    assert (bars.name, bars.bounds) == ("b", "The line: at most 9 B.")
    assert [(bar.name, bar.text, bar.fault) for bar in bars.bars] == [
        ("Yours", "10 B", "too much"),
        ("Reference", "5 B", ""),
    ]


def test_without_a_reference_the_second_bar_is_the_broken_bound() -> None:
    row = Amount(name="sent", mine=3, reference=None, whole=None, at_least=4, at_most=9)
    picture = arrange_verdict(
        verdict(Amounts(mesh=MESH, title="Bytes", unit="bytes", whole_title="whole", rows=[row]))
    ).picture
    assert picture is not None
    [bars] = picture.bars
    assert [(bar.name, bar.text, bar.fault) for bar in bars.bars] == [
        ("Yours", "3 B", "too little"),
        ("At least", "4 B", ""),
    ]
    assert bars.bounds == ""


def test_bytes_of_collectives_out_of_bounds_are_two_bars_and_their_number_is_the_order() -> None:
    call = CollectiveCall(collective="all-gather", axes=None, bytes=8, executions=1, in_loop=False)

    def collectives(unit: Literal["bytes", "executions"]) -> Collectives:
        limit = Limit(name="all-gather", unit=unit, mine=8, reference=4, at_least=None, at_most=4)
        return Collectives(mesh=MESH, sums=[], mine=[call], reference=[call], limits=[limit])

    bytes_, number = (arrange_verdict(verdict(collectives(unit))).picture for unit in ("bytes", "executions"))  # type: ignore[arg-type]
    assert bytes_ is not None
    assert number is not None
    assert [bar.text for bar in bytes_.bars[0].bars] == ["8 B", "4 B"]
    assert (bytes_.order, number.bars) == (None, ())
    assert number.order is not None


@pytest.mark.parametrize("mode", ["case", "fault", "leaf"])
def test_a_wrong_shape_is_two_boxes(mode: str) -> None:
    pair = ShapePair(leaf="w", expected=(64, 32), got=(32, 64))
    placed = leaf(MESH, "w", [64, 32], [("fsdp",), ()]).model_copy(update={"ok": False, "got_shape": (32, 64)})
    evidence = {
        "case": FailedCase(case="public-1", difference=Difference(expected="", got="", shapes=pair)),
        "fault": Fault(shapes=pair),
        "leaf": Leaves(mesh=MESH, leaves=[placed]),
    }[mode]
    view = arrange_verdict(verdict(evidence))
    assert view.picture is not None
    assert view.picture.shapes is not None
    assert view.picture.shapes == view_shapes("w", (64, 32), (32, 64))
    top = draw(view).partition('class="gauges"')[0]
    assert top.index("Expected") < top.index("Yours")
    assert "Dimension 0 is 32 instead of 64" in top


def test_an_accepted_verdict_draws_what_the_program_placed() -> None:
    whole, split = leaf(MESH, "a", [8], [()]), leaf(MESH, "b", [8], [("fsdp",)])
    for leaves, name in (([whole, split], "b"), ([whole], "a")):
        view = arrange_verdict(verdict(Leaves(mesh=MESH, leaves=leaves), passed=True))
        assert view.picture is not None
        assert view.picture.leaf is not None
        assert view.picture.leaf.got is not None
        assert view.picture.leaf.name == name


def test_without_anything_to_draw_there_is_no_picture() -> None:
    for passed in (True, False):
        assert arrange_verdict(verdict(passed=passed)).picture is None
        assert (
            arrange_verdict(verdict(Collectives(mesh=MESH, sums=[], mine=[], reference=[]), passed=passed)).picture
            is None
        )


def test_a_card_is_a_png_of_the_size_that_services_show() -> None:
    mesh = Mesh((("data", 2), ("fsdp", 2)))
    view = arrange_verdict(verdict(Leaves(mesh=MESH, leaves=[leaf(MESH, "b", [8, 8], [(), ("fsdp",)])]), passed=True))
    assert view.picture is not None
    assert view.picture.leaf is not None
    cards = {
        draw_card(mesh, None, **LINES, accepted=True),
        draw_card(mesh, None, **LINES, accepted=False),
        draw_card(view.picture.mesh, view.picture.leaf.leaf, **LINES, accepted=True),
    }
    assert len(cards) == 3
    for card in cards:
        assert card.startswith(b"\x89PNG")
        assert (int.from_bytes(card[16:20], "big"), int.from_bytes(card[20:24], "big")) == (WIDTH, HEIGHT)
        assert len(card) < 30_000
