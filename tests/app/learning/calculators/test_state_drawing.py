"""The pictures of the comparison show what was measured: how much each device holds, and which hold the same."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from app.learning.calculators.comparison import tables
from app.learning.calculators.measured_programs import REFERENCES, Holding
from app.learning.calculators.state_drawing import draw_holdings, holdings_text

WITH_STATE = [each for each in REFERENCES if each.holdings]


def by_place(reference):
    return f"{reference.name}-{reference.devices}"


def drawn(reference):
    """For each part: for each device its piece, and the offset, height and colour of what is filled, of a box."""
    picture = ET.fromstring(str(draw_holdings(reference)))
    found = []
    for part in picture.findall("g"):
        devices = []
        for each in part.findall("g"):
            box, filled = each.findall("rect")
            inside = float(box.get("height"))
            top = (float(filled.get("y")) - float(box.get("y"))) / inside
            devices.append(
                (int(each.get("data-piece")), top, float(filled.get("height")) / inside, filled.get("class"))
            )
        found.append(devices)
    return found


@pytest.mark.parametrize("reference", WITH_STATE, ids=by_place)
def test_a_picture_shows_the_measured_shares_and_pieces(reference):
    parts = drawn(reference)
    assert len(parts) == len(reference.holdings)
    for devices, holding in zip(parts, reference.holdings, strict=True):
        assert [piece for piece, *_ in devices] == list(holding.pieces)
        assert len(devices) == reference.devices
        for (_, top, tall, _), held in zip(devices, holding.bytes_by_device, strict=True):
            assert tall == pytest.approx(held / holding.whole, abs=0.01)
            assert top >= 0
            assert top + tall <= 1.01
        # The place and the colour of a piece say which one it is.
        assert len({(top, colour) for _, top, _, colour in devices}) == len(set(holding.pieces))
        assert len({top for _, top, *_ in devices}) == len(set(holding.pieces))


@pytest.mark.parametrize("reference", WITH_STATE, ids=by_place)
def test_what_the_devices_hold_is_the_whole_state_and_no_less(reference):
    assert reference.state == max(
        sum(held) for held in zip(*(each.bytes_by_device for each in reference.holdings), strict=True)
    )
    for each in reference.holdings:
        pieces = dict(zip(each.pieces, each.bytes_by_device, strict=True))
        assert sum(pieces.values()) >= each.whole


def test_a_picture_and_its_text_follow_other_numbers():
    reference = next(each for each in WITH_STATE if each.devices == 4)
    halves = Holding("parameters", 100, (50, 50, 50, 50), (0, 0, 1, 1))
    uneven = Holding("optimizer state", 100, (100, 25, 25, 25), (0, 1, 2, 3))
    other = replace(reference, holdings=(halves, uneven))
    first, second = drawn(other)
    assert [(piece, top) for piece, top, *_ in first] == [(0, 0), (0, 0), (1, 0.5), (1, 0.5)]
    assert [tall for *_, tall, _ in second] == [1, 0.25, 0.25, 0.25]
    assert holdings_text(other) == (
        "Parameters: 2 pieces, 50 % on each device, each piece on 2 devices. "
        "Optimizer state: 4 pieces, at most 100 % on a device."
    )


def test_every_strategy_of_the_comparison_has_a_picture_with_a_title_and_a_text():
    for table in tables():
        for row in table.rows:
            picture = ET.fromstring(str(row.picture))
            assert picture.get("role") == "img"
            assert picture.findtext("title") == f"State on each device, mesh {row.program.mesh_name}"
            assert picture.findtext("desc") == holdings_text(row.program)
        assert [row.picture for row in table.others] == [None] * len(table.others)


def test_the_texts_name_what_sets_the_strategies_apart():
    texts = {row.program.name: holdings_text(row.program) for row in tables()[0].rows}
    whole, eighth = "whole on each device.", "8 pieces, 12.5 % on each device."
    assert texts["dp_step"] == f"Parameters: {whole} Optimizer state: {whole}"
    assert texts["zero1_opt_state"] == texts["zero2"] == f"Parameters: {whole} Optimizer state: {eighth}"
    assert texts["fsdp_shard_map_step"] == f"Parameters: {eighth} Optimizer state: {eighth}"
    assert "4 pieces, 25 % on each device, each piece on 2 devices" in texts["hsdp_step"]
