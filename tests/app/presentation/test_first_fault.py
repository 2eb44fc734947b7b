"""The sentence and the drawing at the top of a verdict."""

from app.core.web.templating import ENVIRONMENT
from app.presentation.drawings.placement import Mesh
from app.presentation.drawings.share_card import HEIGHT, WIDTH, draw_card
from app.presentation.verdict_view import VerdictView, arrange_verdict
from grader.verdicts.evidence import Amount, Amounts, Collectives, Fault, Leaves
from grader.verdicts.verdict import Verdict
from tests.app.program_verdict import leaf, program_verdict

MESH = {"fsdp": 4}


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
    assert picture.amounts is not None
    assert [row.amount.name for row in picture.amounts.rows] == ["b"]


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
        draw_card(mesh, None, accepted=True),
        draw_card(mesh, None, accepted=False),
        draw_card(view.picture.mesh, view.picture.leaf.leaf, accepted=True),
    }
    assert len(cards) == 3
    for card in cards:
        assert card.startswith(b"\x89PNG")
        assert (int.from_bytes(card[16:20], "big"), int.from_bytes(card[20:24], "big")) == (WIDTH, HEIGHT)
        assert len(card) < 20_000
