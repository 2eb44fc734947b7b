"""Markdown becomes a page that is readable without JavaScript, and safe whatever the text contains."""

import pytest

from app.core.web.highlight import highlight_code
from app.core.web.markdown import render_markdown
from tests.app.page_tags import tags_of

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](https://elsewhere.example/pixel.gif)",
    "![x](figures/../../etc/passwd.svg)",
    '[x](https://a.example "\\" onmouseover=alert(1)")',
    "```<script>\nalert(1)\n```",
    "```python onload=alert(1)\n<script>alert(1)</script>\n```",
    "$\\text{<script>alert(1)</script>}$",
    "$\\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
    "$\\href{javascript:alert(1)}{x}$",
    "$\\style{background:url(https://elsewhere.example)}{x}$",
    "$\\class{brand}{x}$",
    "$$\\text{<img src=x onerror=alert(1)>}$$",
    "## <img src=x onerror=alert(1)>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_an_author_writes_runs_or_loads(text: str) -> None:
    for tag, attributes in tags_of(render_markdown(text, figures="/problems/x/figures").html):
        assert tag not in {"script", "svg", "iframe", "object", "style", "base", "form"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not attributes.get("href", "").lower().startswith(("javascript:", "data:"))
        assert not attributes.get("src")
        assert attributes.get("class", "") != "brand"


def test_html_of_the_author_is_shown_as_text() -> None:
    assert "&lt;b&gt;bold&lt;/b&gt;" in render_markdown("<b>bold</b>").html


def test_maths_is_mathml_inline_and_displayed() -> None:
    html = render_markdown("Let $x_1$ be\n\n$$\\frac{a}{b}$$\n").html
    assert '<math display="inline"><mrow><msub>' in html
    assert '<span class="display" tabindex="0"><math' in html
    assert "<mfrac>" in html


def test_prices_are_not_maths() -> None:
    assert "<math" not in render_markdown("It costs 5 $ here and 6 $ there.").html


def test_a_formula_that_cannot_be_read_is_shown_as_its_source() -> None:
    html = render_markdown("Before $\\frac{$ after").html
    assert '<code class="tex-error">\\frac{</code>' in html
    assert "after" in html


@pytest.mark.parametrize("mark", ["\ue0000\ue001", "&#xE000;0&#xE001;", "[a](b '&#xE000;0&#xE001;')"])
def test_text_cannot_pass_for_a_formula(mark: str) -> None:
    assert render_markdown(f"{mark} and $x$").html.count("<math") == 1


def test_code_is_coloured_by_classes_and_scrolls_by_keyboard() -> None:
    html = render_markdown("```python\ndef f(): return 1\n```").html
    assert '<pre tabindex="0"><code>' in html
    assert '<span class="k">def</span>' in html


def test_a_language_that_is_not_known_is_left_plain_and_escaped() -> None:
    assert highlight_code("<b>", "no-such-language") == "&lt;b&gt;"


def test_headings_get_ids_that_are_unique_prefixed_and_listed() -> None:
    prose = render_markdown("# Output\n\n## Output\n\n### `x` & y\n\n## 日本\n", anchors="s")
    assert [(heading.text, heading.anchor) for heading in prose.headings] == [
        ("Output", "s-output"),
        ("Output", "s-output-2"),
        ("日本", "s-section"),
    ]
    assert '<h3 id="s-x-y">' in prose.html
    assert "<h1" not in prose.html


def test_figures_come_from_the_problem_alone() -> None:
    html = render_markdown("![Cycle](figures/fsdp_cycle.svg)", figures="/problems/fsdp_step/figures").html
    assert 'src="/problems/fsdp_step/figures/fsdp_cycle.svg"' in html
    assert 'alt="Cycle"' in html


def test_a_figure_of_its_own_line_scrolls_by_keyboard() -> None:
    html = render_markdown("![Cycle](figures/fsdp_cycle.svg)", figures="/figures").html
    assert '<div class="wide figure" tabindex="0"><img' in html
    assert "<p>" not in html
    assert "<p>Text <img" in render_markdown("Text ![Cycle](figures/fsdp_cycle.svg)", figures="/figures").html


def test_tables_scroll_by_keyboard_where_they_are_too_wide() -> None:
    html = render_markdown("| a |\n|---|\n| b |\n").html
    assert '<div class="wide" tabindex="0"><table>' in html
    assert "<th>a</th>" in html


def test_a_head_cell_with_nothing_in_it_heads_nothing() -> None:
    html = render_markdown("| | b |\n|---|---|\n| c | d |\n").html
    assert html.count("<th") - html.count("<thead") == 1
    assert "<td></td>" in html


def test_a_formula_of_its_own_line_scrolls_by_keyboard() -> None:
    assert '<span class="display" tabindex="0"><math' in render_markdown("$$x$$").html
    assert "tabindex" not in render_markdown("$x$").html


def test_a_slug_in_emphasis_is_a_link_where_the_problem_exists() -> None:
    text = "See *fsdp_step*, *no_such_problem*, *fsdp_step or so* and `*fsdp_step*`."
    html = render_markdown(text, problems=(("fsdp_step", "One <step>"),)).html
    assert 'See <a href="/problems/fsdp_step" rel="noopener noreferrer">One &lt;step&gt;</a>,' in html
    assert html.count("<a ") == 1
    assert "<em>no_such_problem</em>" in html


def test_a_text_is_cut_at_its_second_level_headings() -> None:
    prose = render_markdown("First.\n\n# Idea\n\nOne.\n\n### Part\n\n> ## Quoted\n\n## Problem\n\nTwo.\n\n## Problem\n")
    anchors = [each.heading and each.heading.anchor for each in prose.sections]
    assert anchors == [None, "s-idea", "s-problem", "s-problem-2"]
    before, rest = prose.split_at("Problem")
    assert [each.heading and each.heading.text for each in before] == [None, "Idea"]
    assert (rest[0].title, rest[0].body) == ('<h2 id="s-problem">Problem</h2>\n', "<p>Two.</p>\n")
    assert before[0].title == ""
    assert "".join(each.html for each in (*before, *rest)) == prose.html
    assert prose.split_at("Task") == ((), prose.sections)
