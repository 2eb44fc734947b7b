"""A lesson as a Jupyter notebook with its figures, made from its parts, for a reader's own machine.

The format is nbformat 4.5: https://nbformat.readthedocs.io/en/latest/format_description.html
Figures are data URLs in its text, because JupyterLab does not show an SVG that is attached to a cell.
"""

import base64
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from app.core.web.static_files import static_file
from app.learning.lessons.lesson import (
    NAMED_PROBLEM,
    Figure,
    Lesson,
    Misreading,
    Program,
    Question,
    SideNote,
    Steps,
    Text,
)
from app.learning.lessons.questions import answer_of

# Only before the devices are first used. A notebook's machine may have a GPU, and the lessons' numbers are of CPUs.
DEVICES = """\
import jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", {devices})
"""
_LINK = re.compile(r"\]\((?=/)")
# As wide as the figures for which tests/lessons/drawing.py is made, at most.
_WIDTH = 720
_TOKEN = re.compile(r"^ +--([\w-]+): (.+);$", re.MULTILINE)
_BY_THEME = re.compile(r"light-dark\(([^,()]+),[^()]+\)")
_RULE = re.compile(r"^\.drawn (?:text|\.)[^{]*\{[^}]*\}", re.MULTILINE)
_ROOT = re.compile(r"<svg\b([^>]*)>")


def notebook_of(lesson: Lesson, address: str, titles: Mapping[str, str]) -> str:
    """The notebook's JSON, with its figures inside.

    Args:
      address: of this service, such as `https://meshgrade.example`. Links of the lesson lead there.
      titles: of the problems that are served, by slug. `*slug*` becomes a link to one.
    """

    def linked(markdown: str) -> str:
        def problem(named: re.Match[str]) -> str:
            title = titles.get(named[1])
            return named[0] if title is None else f"[{title}]({address}/problems/{named[1]})"

        return NAMED_PROBLEM.sub(problem, _LINK.sub(f"]({address}", markdown))

    page = f"{address}/lessons/{lesson.slug}"
    devices, needs = lesson.claims.devices, f"jax=={lesson.claims.jax} flax optax"
    opening = (
        f"# {lesson.title}\n\n{lesson.summary}\n\nFrom [{page}]({page}). The programs run on {devices} devices that "
        f"JAX simulates on the CPU. They need `pip install {needs}`. Run the first cell before all others."
    )
    cells = [_markdown(opening), _code(DEVICES.format(devices=devices), "")]
    for part in lesson.parts:
        if isinstance(part, Program):
            cells.append(_code(part.block.code, part.block.output))
        else:
            cells.append(_markdown(linked(_written(part))))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _written(part: Text | SideNote | Figure | Steps | Misreading | Question) -> str:
    match part:
        case Text():
            return part.markdown
        case SideNote():
            return _quoted(part.markdown)
        case Figure():
            return _drawn(part, part.caption)
        case Steps():
            return "\n\n".join(
                [part.title, *(_drawn(each.figure, f"**{each.name}:** {each.figure.caption}") for each in part.steps)]
            )
        case Misreading():
            return _quoted(f"**You may have read:** {part.wrong}\n\n**Measured here:** {part.right}")
        case Question():
            choices = "".join(f"- {each}\n" for each in part.spec.choices)
            question = f"**Check yourself.** {part.text}\n\n{choices}"
            drawn = f"\n\n{_drawn(part.figure, part.figure.caption)}" if part.figure else ""
            answer = f"{answer_of(part)}\n\n{part.explanation}{drawn}"
            return f"{question}\n<details><summary>Answer</summary>\n\n{answer}\n\n</details>"


def _drawn(figure: Figure, below: str) -> str:
    url = f"data:image/svg+xml;base64,{base64.b64encode(_standalone(figure.svg).encode()).decode()}"
    return f'<img alt="{html.escape(figure.caption)}" src="{url}">\n\n{below}'


def _quoted(markdown: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown.splitlines())


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, printed: str) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": source.rstrip("\n"),
    }


def _standalone(svg: str) -> str:
    """The figure with the styles of the page inside, in light colours and at a fixed width."""

    def root(found: re.Match[str]) -> str:
        height = re.search(r' height="([\d.]+)"', found[1])
        # Without a viewBox, a page that makes the image narrower cuts its lower part off.
        box = f'width="{_WIDTH}" viewBox="0 0 {_WIDTH} {height[1]}"' if height else f'width="{_WIDTH}"'
        attributes = found[1].replace('width="100%"', box)
        return f'<svg{attributes} class="drawn"><style>{_styles()}</style>'

    return _ROOT.sub(root, svg, count=1)


@cache
def _styles() -> str:
    """The rules for figures of lessons.css, with the values that tokens.css gives them."""
    tokens: dict[str, str] = {}
    for name, value in _TOKEN.findall(static_file("core/tokens.css").read_text(encoding="utf-8")):
        # A later one is for paper.
        tokens.setdefault(name, _BY_THEME.sub(r"\1", value))
    rules = _RULE.findall(static_file("learning/lessons.css").read_text(encoding="utf-8"))
    written = "\n".join(["svg { background: var(--page); }", *rules])
    return re.sub(r"var\(--([\w-]+)\)", lambda found: tokens.get(found[1], found[0]), written)
