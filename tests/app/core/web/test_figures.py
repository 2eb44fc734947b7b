"""Figures of packages become part of a page only if they are nothing but shapes and text in the palette."""

import re

import pytest

from app.core.web.figures import COLLECTIVES, PALETTE, SLICES, inline_figure
from app.core.web.markdown import parse_markdown, prose_of, render_markdown
from app.core.web.static_files import static_file

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 90"><title id="title">T</title>{}</svg>'
TEXT = '<text x="1" y="2" font-size="13" fill="#1f2933">a &lt; b<tspan dy="2">c</tspan> d</text>'


def test_shapes_and_text_are_written_again_without_title_and_ids():
    assert inline_figure(SVG.format('<rect width="9" height="9" fill="#0072b2"/>' + TEXT)) == (
        '<svg class="least-40" viewBox="0 0 720 90" aria-hidden="true"><rect width="9" height="9" fill="#0072b2"/>'
        '<text x="1" y="2" font-size="13" fill="#1f2933">a &lt; b<tspan dy="2">c</tspan> d</text></svg>'
    )


@pytest.mark.parametrize(
    "inside",
    [
        "<style>text { fill: red }</style>",
        '<rect style="fill: red"/>',
        '<rect class="notice"/>',
        '<rect id="verdict"/>',
        '<rect fill="red"/>',
        '<rect stroke="url(#a)"/>',
        '<rect onclick="alert(1)"/>',
        "<script>alert(1)</script>",
        '<use href="#main"/>',
        "<g><g><rect/></g></g>",
        '<text font-size="large">a</text>',
        "<text>a<tspan>b<tspan>c</tspan></tspan></text>",
        '<rect xmlns="http://www.w3.org/1999/xhtml"/>',
        "<rect>",
    ],
)
def test_anything_else_stays_an_image(inside):
    assert inline_figure(SVG.format(inside)) is None
    assert inline_figure(SVG.format(TEXT).replace("0 0 720 90", "")) is None


def test_a_figure_is_as_wide_as_its_smallest_text_needs():
    for width, size, least in ((360, 13, 20), (720, 13, 40), (720, 11, 48), (9000, 11, 64)):
        svg = SVG.format(TEXT.replace('"13"', f'"{size}"')).replace("720", str(width))
        assert f'class="least-{least}"' in inline_figure(svg)


def test_the_statement_has_the_drawing_under_its_alternative_text():
    parsed = parse_markdown('![A "<b>" & c](figures/f.svg)\n\n![Other](figures/g.svg)', "s")
    html = prose_of(parsed, "/figures", {}, {"f.svg": SVG.format(TEXT)}).html
    assert '<span role="img" aria-label="A &quot;' in html
    assert html.count("<svg ") == 1
    assert "<b>" not in html.replace("&lt;b>", "")
    assert '<img src="/figures/g.svg" alt="Other">' in html
    assert "<img" in render_markdown("![A](figures/f.svg)", figures="/figures").html


@pytest.mark.parametrize("attribute", ["fill", "stroke"])
def test_slices_and_collectives_have_the_colours_of_all_drawings_in_their_order(attribute):
    sheet = static_file("core/prose.css").read_text()
    rules = dict(re.findall(rf'\[{attribute}="(#\w{{6}})"\] {{ {attribute}: var\(--([\w-]+)\); }}', sheet))
    assert [rules[each] for each in SLICES] == [f"shard-{number}" for number in range(1, 9)]
    assert [rules[each] for each in COLLECTIVES] == [f"kind-{number}" for number in range(1, 7)]


def test_the_theme_replaces_every_colour_of_the_palette():
    sheet = static_file("core/prose.css").read_text()
    assert PALETTE - {"none"} == set(re.findall(r'\[fill="(#\w{6})"\]', sheet))
