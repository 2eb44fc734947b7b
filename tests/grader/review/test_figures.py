"""Figures are shown, and contain nothing that runs, loads or links."""

import pytest

from grader.package.fault import PackageFault
from grader.review.figures import active_content, wrong_figures

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
DRAWING = f'<?xml version="1.0"?>{HEAD}<title>t</title><g fill="url(#f)"><rect width="9" height="9"/></g></svg>'


def svg(content: str, before: str = "") -> str:
    return f"{before}{HEAD}{content}</svg>"


def test_a_drawing_is_accepted():
    assert active_content(DRAWING) == []
    assert active_content(svg('<defs><path id="p"/></defs><use href="#p"/><style>rect { fill: red }</style>')) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (svg("<script>alert(1)</script>"), "the element <script>"),
        (svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>'), "the element <script>"),
        (svg("<foreignObject><b/></foreignObject>"), "the element <foreignObject>"),
        (svg('<a href="#x"><rect/></a>'), "the element <a>"),
        (svg('<set attributeName="href" to="javascript:alert(1)"/>'), "the element <set>"),
        (svg('<image href="https://example.org/x.png"/>'), "the element <image>"),
        (svg('<rect onclick="alert(1)"/>'), "the attribute onclick on <rect>"),
        (svg('<rect OnLoad="alert(1)"/>'), "the attribute OnLoad on <rect>"),
        (svg('<use href="java&#10;script:alert(1)"/>'), "a script as href of <use>"),
        (svg('<use href="https://example.org/x.svg#p"/>'), "points outside itself by href of <use>"),
        (svg('<use xmlns:l="http://www.w3.org/1999/xlink" l:href="x.svg#p"/>'), "points outside itself by href"),
        (svg('<rect style="fill: url(https://example.org/x)"/>'), "loads something by url() in style of <rect>"),
        (svg('<rect fill="u\\72l(https://example.org/x)"/>'), "loads something by url() in fill of <rect>"),
        (svg("<style>@import 'https://example.org/x.css';</style>"), "loads something by @import"),
        (svg("<style>rect { fill: url( 'x.svg#p' ) }</style>"), "loads something by @import or url()"),
        (
            svg("<text>/*</text><style>a { b: url(x.svg) }</style><text>*/</text>"),
            "loads something by @import or url()",
        ),
        (svg("<style>@im<g/>port 'x.css';</style>"), "loads something by @import"),
        (svg("<style>/* a { b: url(x.svg) }</style>"), "loads something by @import or url()"),
        (svg("", '<!DOCTYPE svg [<!ENTITY a "b">]>'), "has a DOCTYPE"),
        (svg("", '<?xml-stylesheet href="x.css"?>'), "has a processing instruction <?xml-stylesheet?>"),
        ("<svg/>", "the element <svg>"),
        ("<svg", "is not XML"),
        ("", "is not XML"),
    ],
    ids=lambda text: "" if text.startswith("<") else text[:40],
)
def test_what_may_run_load_or_link_is_refused(text, said):
    assert said in "\n".join(fault for _, fault in active_content(text))


def test_a_figure_is_shown_and_one_that_is_shown_exists():
    files = {"statement.md": "![a picture](figures/cycel.svg)", "figures/cycle.svg": DRAWING}
    assert [str(each) for each in wrong_figures(files)] == [
        "statement.md shows figures/cycel.svg, which is not in the package (did you mean 'figures/cycle.svg'?)",
        "figures/cycle.svg is not shown: put ![what it shows](figures/cycle.svg) into statement.md, or remove it",
    ]
    assert wrong_figures(files | {"statement.md": "![a] [b](figures/cycle.svg)"})
    assert wrong_figures(files | {"editorial.md": "![it](figures/cycle.svg)", "statement.md": ""}) == []


def test_the_figure_with_a_script_is_named():
    files = {"statement.md": "![a picture](figures/cycle.svg)", "figures/cycle.svg": svg("<script/>")}
    assert wrong_figures(files) == [
        PackageFault(
            "figure",
            "figures/cycle.svg",
            1,
            "figures/cycle.svg has the element <script>, which a drawing does not need; it may run or load something",
        )
    ]
