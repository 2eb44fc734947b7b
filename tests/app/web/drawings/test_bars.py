"""Bars have one scale, and say their numbers in words."""

from app.web.drawings.bars import Bar, BarGroup, draw_bars
from app.web.drawings.units import bytes_text, exact_text, flops_text


def _draw(*values: int) -> str:
    styles = ("mine", "reference", "whole")
    bars = tuple(Bar(style, value, style) for style, value in zip(styles, values, strict=False))
    return draw_bars("Memory", [BarGroup("state", bars)], bytes_text)


def _lengths(root):
    return [float(rect.get("width")) for rect in root.iter("rect")]


def test_lengths_are_proportional_and_numbers_said(parse):
    root = parse(_draw(2048, 1024, 8192))
    mine, reference, whole = _lengths(root)
    assert mine == 2 * reference
    assert whole == 8 * reference
    assert {"2.0 KiB", "1.0 KiB", "8.0 KiB"} <= {text.text for text in root.iter("text")}
    assert root.find("desc").text == "state: mine 2.0 KiB, reference 1.0 KiB, whole 8.0 KiB."


def test_groups_share_a_scale(parse):
    groups = [BarGroup("a", (Bar("yours", 1000, "mine"),)), BarGroup("b", (Bar("yours", 500, "mine"),))]
    first, second = _lengths(parse(draw_bars("Memory", groups, bytes_text)))
    assert first == 2 * second


def test_zero_bytes_have_no_bar_but_a_number(parse):
    root = parse(_draw(0, 0))
    assert _lengths(root) == []
    assert [text.text for text in root.iter("text") if text.get("class") == "value"] == ["0 B", "0 B"]


def test_a_little_beside_a_lot_stays_visible(parse):
    assert _lengths(parse(_draw(1, 10**18)))[0] == 1


def test_nothing_at_all_is_drawn_as_nothing(parse):
    assert _lengths(parse(draw_bars("Memory", [], bytes_text))) == []


def test_names_are_escaped_and_cut(parse):
    svg = draw_bars("<b>", [BarGroup("<script>" * 10, (Bar("<i>", 1, "mine"),))], bytes_text)
    assert "<script" not in svg
    assert "<i>" not in svg
    assert max(len(text.text) for text in parse(svg).iter("text")) <= 40


def test_units():
    assert [bytes_text(size) for size in (0, 1023, 1024, 1024**2 - 1, 1024**2, 10**18)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.0 MiB",
        "1.0 MiB",
        "888.2 PiB",
    ]
    assert [flops_text(count) for count in (999, 1_572_864, 2 * 10**12)] == ["999 FLOP", "1.6 MFLOP", "2.0 TFLOP"]
    assert exact_text(1_572_864) == "1,572,864"
    assert len({bytes_text(None), flops_text(None), exact_text(None)}) == 1
