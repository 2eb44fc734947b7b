"""Draws who holds which part of a state: the parameters above, the optimizer's state below, a box for each device."""

from collections import Counter

from markupsafe import Markup

from app.core.web.svg import element
from app.learning.calculators.measured_programs import Holding, Reference

_BOX, _HEIGHT, _GAP, _LABEL, _COLOURS = 13.0, 26.0, 3.0, 50.0, 8
_SHORT = {"parameters": "params", "optimizer state": "optim."}


def draw_holdings(program: Reference) -> Markup | None:
    """None for a program without a state.

    A box is the whole part, and the filled piece of it is what the device holds, from where it begins. Equal pieces
    have the same place and colour; a part that every device holds whole has neither.
    """
    if not program.holdings:
        return None
    width = _LABEL + program.devices * (_BOX + _GAP)
    height = len(program.holdings) * (_HEIGHT + _GAP)
    return element(
        "svg",
        element("title", f"State on each device, mesh {program.mesh_name}"),
        element("desc", holdings_text(program)),
        *[
            element(
                "g",
                element("text", _SHORT[each.part], x=0, y=number * (_HEIGHT + _GAP) + _HEIGHT / 2 + 4),
                *[_device(each, device, number) for device in range(program.devices)],
            )
            for number, each in enumerate(program.holdings)
        ],
        class_="held",
        role="img",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def holdings_text(program: Reference) -> str:
    """`Parameters: whole on each device. Optimizer state: 8 pieces, 12.5 % on each device.`"""
    return " ".join(f"{each.part.capitalize()}: {_sentence(each)}." for each in program.holdings)


def _sentence(holding: Holding) -> str:
    pieces = Counter(holding.pieces)
    if len(pieces) == 1 and max(holding.bytes_by_device) == holding.whole:
        return "whole on each device"
    share = f"{100 * max(holding.bytes_by_device) / holding.whole:.3g} % on"
    share = f"{share} each device" if len(set(holding.bytes_by_device)) == 1 else f"at most {share} a device"
    copies = max(pieces.values())
    same = "" if copies == 1 else f", each piece on {copies} devices"
    return f"{len(pieces)} pieces, {share}{same}"


def _device(holding: Holding, device: int, row: int) -> Markup:
    x, y = _LABEL + device * (_BOX + _GAP), row * (_HEIGHT + _GAP) + 0.5
    count, piece = max(holding.pieces) + 1, holding.pieces[device]
    share = holding.bytes_by_device[device] / holding.whole
    inside = _HEIGHT - 1
    tall = max(2.0, share * inside)
    # A leaf that is not split makes a piece larger than its share of the box: the last one ends where the box does.
    top = min(piece / count * inside, inside - tall)
    colour = "of-all" if count == 1 else f"of-{piece % _COLOURS + 1}"
    return element(
        "g",
        element("rect", x=x + 0.5, y=y, width=_BOX - 1, height=inside, class_="box"),
        element("rect", x=x + 0.5, y=y + top, width=_BOX - 1, height=tall, class_=colour),
        data_device=str(device),
        data_piece=str(piece),
    )
