"""Pictures and headlines have the bytes that a device sends, and a bar is as long as the number beside it."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from app.core.web.units import bytes_text
from app.learning.explorer.examples import shipped_results
from app.learning.explorer.exploration_view import arrange_explored
from app.presentation.drawings.timeline import calls_of
from app.presentation.sent_bytes import sent_calls, with_sent_bytes
from app.presentation.totals import headline, sent_bytes
from grader.explorer.exploration import ExploredProgram
from grader.verdicts.evidence import CollectiveCall, CollectiveSum, Traffic

RESULTS = shipped_results()


@pytest.mark.parametrize("slug", RESULTS)
def test_bars_numbers_and_the_headline_of_a_picture_agree(slug: str) -> None:
    [program] = RESULTS[slug].programs
    [mesh] = arrange_explored(RESULTS[slug]).meshes
    sent = sent_bytes(program)
    assert f"each device sends {bytes_text(sent)}" in headline(program)
    runs = ElementTree.fromstring(mesh.timeline).findall(".//li")
    lengths = [float(each.find(".//rect").get("width", "")) for each in runs]  # type: ignore[union-attr]
    numbers = ["".join(each.find("span[@class='number']").itertext()) for each in runs]  # type: ignore[union-attr]
    shown = [_bytes_of(each) for each in numbers]
    assert sum(shown) == pytest.approx(sent, rel=0.05)
    for length, number in zip(lengths, shown, strict=True):
        # A bar of almost nothing is still drawn.
        assert length == pytest.approx(max(100 * number / sent, 1), abs=0.5 + 0.05 * length)


def _bytes_of(text: str) -> float:
    found = re.fullmatch(r"sends ([\d.,]+) (B|KiB|MiB|GiB)", text)
    assert found is not None
    return float(found[1].replace(",", "")) * 1024 ** ("B", "KiB", "MiB", "GiB").index(found[2])


@pytest.mark.parametrize("slug", RESULTS)
def test_a_node_of_the_graph_sends_what_its_collectives_send(slug: str) -> None:
    [program] = RESULTS[slug].programs
    graph = with_sent_bytes(program.graph, program.collectives)
    assert graph is not None
    for node in graph.nodes:
        if node.kind == "collective":
            shares = [
                each.ring_bytes
                for number, each in enumerate(program.collectives)
                if (number if each.sent_with is None else each.sent_with) in node.collectives
            ]
            assert node.bytes == pytest.approx(sum(shares), abs=len(shares))


def test_the_collectives_of_a_verdict_send_what_its_sums_say() -> None:
    program: ExploredProgram = RESULTS["fsdp-layer"].programs[0]
    calls = [
        CollectiveCall(**{name: getattr(each, name) for name in CollectiveCall.model_fields})
        for each in program.collectives
    ]
    sums = [
        CollectiveSum(
            collective=each.collective,
            axes=each.axes,
            group_size=each.group_size,
            in_loop=each.in_loop,
            mine=None,
            reference=Traffic(executions=1, bytes=each.bytes, ring_bytes=each.ring_bytes),
        )
        for each in program.collectives
    ]
    assert sent_calls(calls, sums) == calls_of(program.collectives)
