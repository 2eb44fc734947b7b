"""Check the figures of a package: each one exists, is shown, and contains only a drawing."""

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from grader.package.fault import PackageFault
from grader.review.names import suggest

_SHOWN_IN = ("statement.md", "hints.md", "editorial.md")
_IMAGE = re.compile(r"!\[|\](?:\(\s*+<?(figures/[^)>\s]*+))?")
_SVG = "http://www.w3.org/2000/svg"
# An allow-list, so that new elements of SVG and HTML that run or load something need no change here. Animations are
# left out because they can turn a harmless link into a script.
_ELEMENTS = frozenset(
    "svg g title desc defs style rect circle ellipse line polyline polygon path text tspan textPath marker "
    "linearGradient radialGradient stop clipPath mask pattern symbol use".split()
)
_MAX_FAULTS = 8


def wrong_figures(files: Mapping[str, str]) -> list[PackageFault]:
    """Find the faults of a package's figures.

    Args:
      files: the text of the package's files by path.
    """
    figures = [name for name in files if name.startswith("figures/")]
    shown = {name: text for text in _SHOWN_IN for name in _shown(files.get(text, ""))}
    faults = [
        _fault(text, None, f"shows {name}, which is not in the package{suggest(name, figures)}")
        for name, text in shown.items()
        if name not in figures
    ]
    for name in figures:
        if name not in shown:
            faults.append(
                _fault(name, None, f"is not shown: put ![what it shows]({name}) into statement.md, or remove it")
            )
        faults += [_fault(name, line, fault) for line, fault in active_content(files[name])]
    return faults


def _fault(file: str, line: int | None, fault: str) -> PackageFault:
    return PackageFault("figure", file, line, f"{file} {fault}")


def _shown(markdown: str) -> Iterator[str]:
    """The figures that images show, found in linear time even if images are never closed."""
    is_open = False
    for place in _IMAGE.finditer(markdown):
        if is_open and place[1]:
            yield place[1]
        is_open = place[0] == "!["


class _Refused(Exception):
    """Stops the parser at something that must not be read further."""


def active_content(svg: str) -> list[tuple[int | None, str]]:
    """Find everything in an SVG that could run, load or link to something: the line, and the end of a sentence."""
    faults: list[tuple[int | None, str]] = []
    # The text of each closed element, without that of its children. `opened` has the text of open elements.
    texts: list[str] = []
    opened: list[list[str]] = []
    parser = expat.ParserCreate("utf-8", " ")
    parser.buffer_text = True

    def refuse_doctype(*_: object) -> None:
        # Stop before anything is expanded: a page of nested entities can grow to gigabytes.
        raise _Refused("has a DOCTYPE, which may define entities: remove it")

    def refuse_instruction(target: str, _: str) -> None:
        raise _Refused(f"has a processing instruction <?{target}?>: remove it")

    def end(_: str) -> None:
        texts.append("".join(opened.pop()))

    def start(tag: str, attributes: dict[str, str]) -> None:
        opened.append([])
        namespace, _, element = tag.rpartition(" ")
        wrong = []
        if namespace != _SVG or element not in _ELEMENTS:
            wrong.append(f"has the element <{element}>, which a drawing does not need; it may run or load something")
        for attribute, value in attributes.items():
            wrong += _wrong_attribute(element, attribute.rpartition(" ")[2], value)
        faults.extend((parser.CurrentLineNumber, each) for each in wrong)

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.ProcessingInstructionHandler = refuse_instruction
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: opened[-1].append(text)
    try:
        parser.Parse(svg, True)
    except _Refused as refused:
        return [(parser.CurrentLineNumber, str(refused))]
    except expat.ExpatError as error:
        return [(error.lineno, f"is not XML: {error}")]
    # Don't join all texts: a comment that begins in a label would hide a later style.
    if any(map(_loads, texts)):
        faults.append((None, "loads something by @import or url() in its style; only url(#id) is allowed there"))
    return faults[:_MAX_FAULTS]


def _wrong_attribute(element: str, name: str, value: str) -> list[str]:
    if name.lower().startswith("on"):
        return [f"has the attribute {name} on <{element}>, which runs a script"]
    if re.sub(r"[\s\x00-\x20]", "", value).lower().startswith(("javascript:", "data:", "vbscript:")):
        return [f"has a script as {name} of <{element}>"]
    if name in ("href", "src", "base") and not value.startswith("#"):
        return [f"points outside itself by {name} of <{element}>: only #id is allowed there"]
    if _loads(value):
        return [f"loads something by url() in {name} of <{element}>: only url(#id) is allowed there"]
    return []


def _loads(style: str) -> bool:
    # With backslashes, CSS can spell `url` without its letters.
    plain = _without_comments(style).lower()
    return "@import" in plain or bool(re.search(r"url\(\s*+(?![\s\"']*+#)", plain)) or "\\" in plain


def _without_comments(style: str) -> str:
    """Remove comments. One that never ends stays, so that it hides nothing."""
    parts = []
    at = 0
    while (begin := style.find("/*", at)) >= 0 and (end := style.find("*/", begin + 2)) >= 0:
        parts.append(style[at:begin])
        at = end + 2
    return "".join([*parts, style[at:]])
