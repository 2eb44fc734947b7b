"""The page of a verdict draws what the compiled program does, whatever the evidence contains."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from app.core.web.templating import ENVIRONMENT
from app.presentation.program_evidence import MAX_LISTED, MAX_MESHES, MAX_WRONG_DRAWN, arrange_meshes
from app.presentation.verdict_view import arrange_verdict
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    CollectiveCall,
    Collectives,
    CollectiveSum,
    Difference,
    Evidence,
    Factor,
    Factors,
    Facts,
    FailedCase,
    Fault,
    Frame,
    Leaves,
    Tolerances,
)
from grader.verdicts.verdict import CheckResult, Verdict
from tests.app.page_tags import tags_of
from tests.app.program_verdict import leaf, make_efficiency, program_verdict

MESH = {"fsdp": 8}
HOSTILE = "</svg></code></td><script>alert(1)</script>\x1b[2J'\"><img src=x onerror=alert(1)>"


def _stored(verdict: Verdict) -> Verdict:
    """As it comes back from the database."""
    return Verdict.model_validate(json.loads(verdict.model_dump_json()))


def _draw(verdict: Verdict) -> str:
    template = ENVIRONMENT.get_template("grading/fragments/verdict.html")
    return template.render(view=arrange_verdict(_stored(verdict)), attempt_url="/attempts/1")


def _with_evidence(*entries: Evidence, passed: bool = False) -> Verdict:
    check = CheckResult(
        id="sharding",
        title="Sharding",
        passed=passed,
        points=0,
        max_points=0,
        trust="verified",
        message="",
        evidence=list(entries),
    )
    return program_verdict().model_copy(update={"checks": [check]})


def test_a_wrong_leaf_is_drawn_expected_beside_yours_and_said_in_words() -> None:
    html = _draw(program_verdict(wrong=True))
    for text in ("Mesh fsdp = 8", "Mesh data = 2, fsdp = 4", "params/w1", "Whole on each of the 8 devices."):
        assert text in html
    for title in ("params/w1, expected, on fsdp = 8", "params/w1, yours, on fsdp = 8"):
        assert f"<title>{title}</title>" in html
    # Beside each other: nothing has to be opened to compare two meshes.
    assert not any(tag == "details" and attributes.get("class") == "mesh" for tag, attributes in tags_of(html))
    assert "device by device" in html.lower()


def test_leaves_that_are_rightly_whole_need_no_drawing() -> None:
    entry = Leaves(mesh=MESH, leaves=[leaf(MESH, "count", [], []), leaf(MESH, "scale", [8, 8], [])])
    html = _draw(_with_evidence(entry, passed=True))
    # Only at the top, where an accepted program's placement is drawn.
    assert html.count('class="drawing') == 1
    for text in (
        "Whole on each of the 8 devices.",
        "float32[]:</span> <code>count</code>",
        "float32[8, 8]:</span> <code>scale</code>",
    ):
        assert text in html


def test_a_bound_that_is_exceeded_is_marked_in_the_table_and_in_the_row() -> None:
    rows = [Amount(name="state", mine=size, reference=1000, whole=8000, at_most=1024) for size in (1024, 1025)]
    for row, over in zip(rows, (False, True), strict=True):
        entry = Amounts(mesh=MESH, title="Bytes", unit="bytes", whole_title="replicated", rows=[row])
        html = _draw(_with_evidence(entry, passed=not over))
        assert ("too much" in html) == over
        assert ("is-outside" in html) == over
        assert "at most 1.0 KiB" in html
        assert ">At most</th>" in html


def test_too_little_is_marked_in_the_table_and_in_the_row() -> None:
    for donated, under in ((1024, False), (1023, True)):
        row = Amount(name="donated state", mine=donated, reference=None, whole=8000, at_least=1024)
        entry = Amounts(mesh=MESH, title="Bytes", unit="bytes", whole_title="whole state", rows=[row])
        html = _draw(_with_evidence(entry, passed=not under))
        assert ("too little" in html) == under
        assert ("is-outside" in html) == under
        assert "at least 1.0 KiB" in html


def test_every_drawing_is_well_formed_named_and_has_no_style() -> None:
    html = _draw(program_verdict(wrong=True, efficiency=None))
    drawings = [part.split("</svg>")[0] for part in html.split("<svg")[1:]]
    assert len(drawings) > 10
    for each in drawings:
        ElementTree.fromstring(f"<svg{each}</svg>")
    for tag, attributes in tags_of(html):
        assert "style" not in attributes, tag
        # Ids of a drawing would occur twice on a page.
        assert "id" not in attributes or tag == "h2" or attributes["id"].startswith("check-")
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes["aria-hidden"] == "true"


def test_numbers_stand_in_tables_too() -> None:
    html = _draw(program_verdict())
    for text in ("393,216", "1,572,864", "12,582,912", "sends 1.3 MiB"):
        assert text in html


def test_a_run_of_call_mode_has_no_drawing() -> None:
    verdict = program_verdict()
    plain = [check.model_copy(update={"evidence": [Fault(line=3)]}) for check in verdict.checks]
    html = _draw(verdict.model_copy(update={"checks": plain}))
    assert 'class="drawing' not in html
    assert "Efficiency" not in html


def test_efficiency_is_shown_with_its_parts_and_meaning() -> None:
    html = _draw(program_verdict("fsdp_forward").model_copy(update={"efficiency": make_efficiency(104.237)}))
    for text in ("Efficiency: 104.24", "The reference scores 100, and higher is better", "0.959", "2.5 MiB", "2.7 MiB"):
        assert text in html
    assert 'href="/problems/fsdp_forward/ranking"' in html


def test_names_of_a_hostile_submission_are_harmless_everywhere() -> None:
    hostile = leaf(MESH, HOSTILE, [8], [("fsdp",)], [()]).model_copy(update={"got_spec": HOSTILE, "dtype": HOSTILE})
    call = CollectiveCall(collective=HOSTILE, axes=(HOSTILE,), bytes=1, executions=1, in_loop=True)
    row = CollectiveSum(collective=HOSTILE, axes=(HOSTILE,), group_size=8, in_loop=True, mine=None, reference=None)
    amount = Amount(name=HOSTILE, mine=1, reference=1, whole=None)
    html = _draw(
        _with_evidence(
            Leaves(mesh=MESH, cases=[HOSTILE], leaves=[hostile]),
            Collectives(mesh=MESH, sums=[row], mine=[call], reference=[call]),
            Amounts(mesh={HOSTILE: 2}, title=HOSTILE, unit="bytes", whole_title=HOSTILE, rows=[amount]),
            Factors(mesh=MESH, factors=[Factor(name=HOSTILE, mine=1.0, reference=None)]),
            Facts(mesh=MESH, about=HOSTILE, values={HOSTILE: HOSTILE}),
            Facts(about=HOSTILE, values={HOSTILE: 1}),
            Fault(type=HOSTILE, traceback=[Frame(line=1, function=HOSTILE, text=HOSTILE)]),
        )
    )
    assert "\x1b" not in html
    assert {tag for tag, _ in tags_of(html)}.isdisjoint({"script", "img"})
    assert not any(name.startswith("on") for _, attributes in tags_of(html) for name in attributes)


def test_a_great_many_leaves_are_listed_and_the_first_drawn() -> None:
    leaves = [leaf(MESH, f"layers/{index}/w", [8], [("fsdp",)], [()]) for index in range(600)]
    leaves = [each.model_copy(update={"got_spec": f"P() {index}"}) for index, each in enumerate(leaves)]
    html = _draw(_with_evidence(Leaves(mesh=MESH, leaves=leaves)))
    # Expected and yours of each.
    assert html.count('class="drawing') == 2 * MAX_WRONG_DRAWN
    assert f"And {MAX_LISTED - MAX_WRONG_DRAWN - 6} more placements" in html
    assert f"layers/{MAX_LISTED - 1}/w" in html
    assert f"layers/{MAX_LISTED}/w" not in html
    assert f"And {600 - MAX_LISTED} more leaves." in html
    assert len(html) < 1_000_000


def test_many_leaves_that_lie_alike_are_one_drawing() -> None:
    leaves = [leaf(MESH, f"layers/{index}/w", [8, 1 + index % 3], [("fsdp",)], [()]) for index in range(600)]
    html = _draw(_with_evidence(Leaves(mesh=MESH, leaves=leaves)))
    assert html.count('class="drawing') == 2
    assert "and 599 more" in html
    assert len(html) < 100_000


def test_a_leaf_off_the_mesh_says_so() -> None:
    off = leaf(MESH, "params/w", [8], [("fsdp",)])
    off = off.model_copy(update={"ok": False, "got_spec": "no sharding over the mesh", "got": None})
    html = _draw(_with_evidence(Leaves(mesh=MESH, leaves=[off])))
    assert "no sharding over the mesh" in html
    assert "<title>params/w, expected, on fsdp = 8</title>" in html
    assert html.count('class="drawing') == 1


def test_a_leaf_that_may_be_split_otherwise_is_not_marked_as_wrong() -> None:
    other = leaf(MESH, "params/w", [8, 8], [("fsdp",), ()], [(), ("fsdp",)])
    accepted = other.model_copy(update={"ok": True})
    html = _draw(_with_evidence(Leaves(mesh=MESH, leaves=[accepted]), passed=True))
    # In the check yours and the reference's, and yours at the top.
    assert html.count('class="drawing') == 3
    assert "✗" not in html
    assert "differs" not in html


def test_each_mesh_shows_its_own_numbers() -> None:
    """Of the same quantities, and of the same case: nothing is merged."""
    amounts = [
        Amounts(
            mesh=mesh,
            title="Bytes",
            unit="bytes",
            whole_title="replicated",
            rows=[Amount(name="state", mine=size, reference=1, whole=None)],
        )
        for mesh, size in (({"fsdp": 8}, 1_111), ({"fsdp": 4}, 2_222))
    ]
    failed = [
        FailedCase(case="public-1", mesh=mesh, where=where, difference=Difference(expected="[1.0]", got=got))
        for mesh, where, got in (({"fsdp": 8}, "after step 1", "[8.0]"), ({"fsdp": 4}, "after step 2", "[4.0]"))
    ]
    verdict = _with_evidence(*amounts, *failed)
    case = verdict.cases[0].model_copy(update={"passed": False})
    html = _draw(verdict.model_copy(update={"cases": [case]}))
    texts = ("Mesh fsdp = 8", "1,111", "Mesh fsdp = 4", "2,222")
    assert [html.index(text) for text in texts] == sorted(html.index(text) for text in texts)
    texts = ("On mesh fsdp = 8, after step 1", "[8.0]", "On mesh fsdp = 4, after step 2", "[4.0]")
    assert [html.index(text) for text in texts] == sorted(html.index(text) for text in texts)


def test_no_two_headings_are_alike() -> None:
    html = _draw(program_verdict(wrong=True))
    headings = [re.sub(r"<[^>]+>|\s+", " ", found).strip() for found in re.findall(r"<h\d.*?</h\d>", html, re.DOTALL)]
    assert len(headings) > 10
    assert len(set(headings)) == len(headings)


def test_a_mesh_beyond_the_page_is_named() -> None:
    html = _draw(_with_evidence(*(Facts(mesh={"x": size}, about="a", values={"b": size}) for size in range(1, 11))))
    assert html.count('class="mesh"') == MAX_MESHES
    assert "Not drawn: x = 9; x = 10." in html


@pytest.mark.parametrize(
    "entry",
    [
        Leaves(mesh=MESH, leaves=[]),
        Amounts(mesh=MESH, title="", unit="operations", whole_title="", rows=[]),
        Amounts(
            mesh={},
            title="",
            unit="bytes",
            whole_title="",
            rows=[Amount(name="", mine=None, reference=None, whole=None)],
        ),
        Amounts(
            mesh=MESH,
            title="",
            unit="bytes",
            whole_title="",
            rows=[Amount(name="", mine=10**400, reference=10**400, whole=0)],
        ),
        Collectives(mesh=MESH, sums=[], mine=[], reference=[]),
        Factors(mesh=MESH, factors=[]),
        Facts(mesh=MESH, about="", values={}),
        Tolerances(by_dtype={}),
        Fault(),
        FailedCase(case="of no known name"),
    ],
    ids=lambda entry: f"{entry.kind}",
)
def test_an_entry_with_nothing_in_it_does_not_break_the_page(entry: Evidence) -> None:
    assert "Sharding" in _draw(_with_evidence(entry))


def test_evidence_that_is_not_drawn_is_shown_as_facts() -> None:
    html = _draw(_with_evidence(Facts(mesh=MESH, about="primitives", values={"shard_map": 1, "dot_general": 2})))
    assert "shard map" in html


def test_all_that_a_judge_finds_is_drawn_and_nothing_is_left_over() -> None:
    for check in program_verdict(wrong=True).checks:
        views = arrange_meshes(check.evidence).shown
        assert len(views) == (2 if check.evidence else 0)
        drawn = [each.wrong or each.right or each.amounts or each.collectives or each.orders for each in views]
        assert all(drawn)
        assert all(each.rest == {} for each in views)
