"""Each check has a row: what it measured on each mesh, in front of its drawings."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from app.core.web.templating import ENVIRONMENT
from app.presentation.measurements import MAX_MEASUREMENTS, measurements_of
from app.presentation.verdict_view import arrange_verdict
from grader.verdicts.evidence import Amount, Amounts, Collectives, Facts, Leaves, Limit
from tests.app.program_verdict import collectives, leaf, memory, program_verdict

MESH = {"fsdp": 8}


def amounts(*rows: Amount, unit: str = "bytes") -> Amounts:
    return Amounts(mesh=MESH, title="Bytes", unit=unit, whole_title="replicated", rows=list(rows))  # type: ignore[arg-type]


def test_of_several_amounts_the_one_that_differs_most_is_read() -> None:
    [reading] = measurements_of([memory(MESH, wrong=True)])
    assert (reading.mesh, reading.what) == ("fsdp = 8", "arguments")
    assert (reading.mine, reading.against, reading.other) == ("384.0 KiB", "reference", "48.0 KiB")


def test_without_a_reference_the_whole_is_read_beside_it() -> None:
    [reading] = measurements_of([amounts(Amount(name="donated", mine=0, reference=None, whole=2048))])
    assert (reading.mine, reading.against, reading.other) == ("0 B", "replicated", "2.0 KiB")
    [alone] = measurements_of([amounts(Amount(name="x", mine=5, reference=None, whole=None))])
    assert (alone.mine, alone.against, alone.gauge) == ("5 B", "", None)


def test_a_bound_is_read_and_rows_with_one_come_first() -> None:
    rows = (
        Amount(name="outputs", mine=9000, reference=1, whole=None),
        Amount(name="arguments", mine=3000, reference=1024, whole=None, at_most=2048),
    )
    [reading] = measurements_of([amounts(*rows)])
    assert (reading.what, reading.bound, reading.is_outside) == ("arguments", "at most 2.0 KiB", True)
    [unbounded] = measurements_of([amounts(rows[0])])
    assert (unbounded.bound, unbounded.is_outside) == ("", False)


def test_too_little_is_read_with_its_bound_before_what_is_most() -> None:
    rows = (
        Amount(name="arguments", mine=3000, reference=1024, whole=None, at_most=4096),
        Amount(name="donated", mine=512, reference=None, whole=4096, at_least=2048),
    )
    [reading] = measurements_of([amounts(*rows)])
    assert (reading.what, reading.mine, reading.bound, reading.is_outside) == (
        "donated",
        "512 B",
        "at least 2.0 KiB",
        True,
    )
    both = Amount(name="products", mine=6, reference=8, whole=None, at_least=4, at_most=9)
    [within] = measurements_of([amounts(both)])
    assert (within.bound, within.is_outside) == ("at most 9 B", False)


def limit(name: str, mine: int, **fields: Any) -> Limit:
    return Limit(
        **{"unit": "bytes", "reference": 2048, "at_least": None, "at_most": None, **fields}, name=name, mine=mine
    )


def test_of_collectives_the_first_broken_limit_is_read() -> None:
    limits = [
        limit("all-gather over fsdp", 2048, at_least=2000, at_most=2100),
        limit("reduce-scatter over fsdp", 0, at_least=2000),
        limit("all-reduce over fsdp", 4096, at_most=0),
    ]
    entry = collectives(MESH, wrong=True)
    [reading] = measurements_of([entry.model_copy(update={"limits": limits})])
    assert (reading.what, reading.mine, reading.bound) == ("reduce-scatter over fsdp", "0 B", "at least 2.0 KiB")
    assert (reading.against, reading.other, reading.is_outside) == ("reference", "2.0 KiB", True)
    [reading] = measurements_of([entry.model_copy(update={"limits": limits[2:]})])
    assert (reading.mine, reading.bound) == ("4.0 KiB", "none allowed")
    [reading] = measurements_of([entry.model_copy(update={"limits": limits[:1]})])
    assert (reading.what, reading.bound, reading.is_outside) == ("sent by each device", "", False)


def test_executions_are_read_as_such_and_a_limit_of_a_leaf_has_no_reference() -> None:
    runs = limit("collective-permute over stage", 1, unit="executions", reference=10, at_least=10, at_most=10)
    entry = collectives(MESH, wrong=True)
    [reading] = measurements_of([entry.model_copy(update={"limits": [runs]})])
    assert (reading.mine, reading.bound, reading.other) == ("1 execution", "at least 10 executions", "10 executions")
    leaf_limit = limit("all-gather over fsdp from params, params/w", 0, reference=None, at_least=2000)
    [reading] = measurements_of([entry.model_copy(update={"limits": [leaf_limit]})])
    assert (reading.against, reading.other) == ("", "")


def test_collectives_are_read_by_what_each_device_sends() -> None:
    [reading] = measurements_of([collectives(MESH, wrong=True)])
    assert (reading.mine, reading.other) == ("224.0 KiB", "2.7 MiB")


def test_a_leaf_counts_once_and_is_wrong_if_it_comes_out_wrong() -> None:
    right = leaf(MESH, "w", [8, 8], [("fsdp",), ()], when="in")
    wrong = leaf(MESH, "w", [8, 8], [("fsdp",), ()], [(), ()])
    other = leaf(MESH, "b", [8], [("fsdp",)])
    [reading] = measurements_of([Leaves(mesh=MESH, leaves=[right, wrong, other])])
    assert (reading.what, reading.mine) == ("", "1 of 2 leaves as expected")


@pytest.mark.parametrize(
    "entry",
    [
        Leaves(mesh=MESH, leaves=[]),
        Facts(mesh=MESH, about="x", values={"y": 1}),
        amounts(),
        amounts(Amount(name="x", mine=None, reference=1, whole=1)),
    ],
)
def test_what_was_not_measured_is_not_read(entry) -> None:
    assert measurements_of([entry]) == ()


def test_numbers_of_any_size_are_drawn() -> None:
    for mine, reference in ((0, 0), (10**400, 1), (1, 10**400), (3, 0)):
        [reading] = measurements_of([amounts(Amount(name="x", mine=mine, reference=reference, whole=None))])
        bars = [float(rect.get("width", "")) for rect in ElementTree.fromstring(str(reading.gauge)).iter("rect")]
        assert all(1 <= width <= 48 for width in bars)


def test_each_mesh_is_read_up_to_a_few() -> None:
    entries = [Collectives(mesh={"fsdp": size}, sums=[], mine=[], reference=[]) for size in (8, 4, 2)]
    assert [reading.mesh for reading in measurements_of(entries)] == ["fsdp = 8", "fsdp = 4"]
    assert MAX_MEASUREMENTS == 2


def test_each_check_is_one_row_that_opens() -> None:
    view = arrange_verdict(program_verdict("fsdp_step", wrong=True))
    html = ENVIRONMENT.get_template("grading/fragments/verdict.html").render(view=view, attempt_url="/attempts/1")
    rows = re.findall(r'<li class="check" data-passed="(yes|no)">\s*<details( open)?>', html)
    # Those that did not pass come first, and all are closed: the first fault is at the top.
    assert [passed for passed, _ in rows] == ["no"] * 4 + ["yes"] * 2
    assert not any(is_open for _, is_open in rows)
    for check in view.checks:
        assert html.count(f"<strong>{check.title}</strong>") == 1


def test_names_in_a_reading_are_escaped() -> None:
    evil = amounts(Amount(name="<script>", mine=2, reference=1, whole=None)).model_copy(update={"mesh": {"<b>": 2}})
    verdict = program_verdict("fsdp_step", wrong=True)
    check = verdict.checks[0].model_copy(update={"evidence": [evil]})
    view = arrange_verdict(verdict.model_copy(update={"checks": [check]}))
    html = ENVIRONMENT.get_template("grading/fragments/verdict.html").render(view=view, attempt_url="/attempts/1")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
