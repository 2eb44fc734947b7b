"""Lists in the documentation are the lists of the code: errors, metrics, defaults, the verdict, folders, options."""

import json
import re
from itertools import pairwise
from pathlib import Path

from pydantic_core import PydanticUndefined

from app.core.settings import Settings
from app.operations.operating.metrics import Metrics
from app.presentation.reasons import REASONS as EXPLAINED
from grader.core.reasons import REASONS
from grader.verdicts.verdict import CaseResult, CheckResult, Efficiency, EfficiencyPart, Timings, Verdict
from tests.app.core.rest.test_error_shape import every_refusal
from tests.docs.pages import CHECKOUT, PAGES, blocks, commands, links, names, prose
from tests.faults import for_each

DOCS = CHECKOUT / "docs"
REST, SETTINGS, DESIGN, PROBLEMS = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("rest", "settings", "design", "problems")
)


def test_every_page_can_be_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [CHECKOUT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            targets = [link.partition("#")[0] for link in links(page) if "://" not in link]
            waiting += [(page.parent / target).resolve() for target in targets if target]
    assert set(PAGES) - reached == set()


def test_the_index_lists_every_page_itself() -> None:
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "README.md")}
    assert {page for page in PAGES if page.name != "README.md" or page.parent.name == "deploy"} - listed == set()


def test_every_error_has_the_status_that_is_listed() -> None:
    listed = {
        slug: int(status)
        for slugs, status in re.findall(r"^\| (`[^|]+`) \| (\d{3}) \|", REST, re.MULTILINE)
        for slug in re.findall(r"`([^`]+)`", slugs)
    }
    assert listed == {kind.slug: kind.status for kind in every_refusal()}


@for_each("name", Settings.model_fields)
def test_every_default_is_the_one_that_is_stated(name: str) -> None:
    stated = re.search(rf"^`MESHGRADE_{name.upper()}`(?:, default:? (`[^`]*`|none|))?", SETTINGS, re.MULTILINE)
    assert stated
    default = Settings.model_fields[name].default
    if default is PydanticUndefined:  # it depends on the machine, and is described
        assert stated[1] == ""
    elif default is None:
        assert stated[1] in ("none", None)
    elif isinstance(default, Path):
        assert stated[1] == f"`{default.relative_to(CHECKOUT)}`"
    else:
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert stated[1] == f"`{shown.lower() if isinstance(default, bool) else shown}`"


def test_the_verdict_has_the_fields_that_are_shown() -> None:
    (block,) = [block.text for block in blocks(DOCS / "design.md") if block.language == "json"]
    shown = json.loads(block)
    for part, model in (
        (shown, Verdict),
        (shown["checks"][0], CheckResult),
        (shown["cases"][0], CaseResult),
        (shown["efficiency"], Efficiency),
        (shown["efficiency"]["parts"][0], EfficiencyPart),
        (shown["timings_ms"], Timings),
    ):
        assert list(part) == [field.alias or name for name, field in model.model_fields.items()]


def test_the_diagram_of_the_parts_has_folders_that_exist_and_import_each_other() -> None:
    [diagram] = [block.text for block in blocks(DOCS / "design.md") if block.text.startswith("flowchart")]
    folders = {name: CHECKOUT / path for name, path in re.findall(r'(\w+)\[\(?"([a-z_]+/[\w/]*)', diagram)}
    assert len(folders) > 10
    assert [folder for folder in folders.values() if not folder.is_dir()] == []
    for line in diagram.splitlines():
        nodes = [folders.get(part.split("[")[0].strip()) for part in line.split(" --> ")]
        for above, below in pairwise(nodes):
            # What the service calls, it gets from app/entry.
            if above and below and above.parent == below.parent == CHECKOUT / "grader":
                sources = "".join(path.read_text(encoding="utf-8") for path in above.rglob("*.py"))
                assert f"from grader.{below.name}" in sources, line


@for_each("folder", ["app", "grader"])
def test_the_tables_of_rooms_name_every_package(folder: str) -> None:
    rows = dict(re.findall(rf"^\| `({folder}/\w+)` \| (.*) \|$", DESIGN, re.MULTILINE))
    rooms = {str(each.parent.relative_to(CHECKOUT)): each.parent for each in CHECKOUT.glob(f"{folder}/*/__init__.py")}
    assert set(rows) == set(rooms)
    if folder == "app":
        packages = [(room, each.parent.name) for room, path in rooms.items() for each in path.glob("*/__init__.py")]
        assert [f"{room}/{name}" for room, name in packages if f"`{name}`" not in rows[room]] == []


def test_the_reasons_are_those_that_are_listed() -> None:
    (listed,) = re.findall(r"`reason` is one of `([^`]+)`", DESIGN)
    assert set(listed.split()) == set(REASONS)


def test_every_metric_exists() -> None:
    families = {
        f"{family.name}{'_total' if family.type == 'counter' else ''}" for family in Metrics().registry.collect()
    }
    listed = set(re.findall(r"\bmeshgrade_[a-z_]+", (DOCS / "operating.md").read_text(encoding="utf-8")))
    assert listed - families == set()


@for_each("page", ["design", "problems"])
def test_every_folder_of_a_tree_exists(page: str) -> None:
    """`folder/   what it is`; an indented line is in the folder above it."""
    checked = 0
    for block in blocks(DOCS / f"{page}.md"):
        if block.language != "text" or not re.search(r"^\S+/( |$)", block.text, re.MULTILINE):
            continue
        above = CHECKOUT
        for line in block.text.splitlines():
            if found := re.match(r"( ?| {2})([\w.*/<>]+)(?: {2,}|$)", line):
                pattern = re.sub(r"<\w+>", "*", found[2]).rstrip("/")
                folder = above if found[1] else CHECKOUT
                assert any(folder.glob(pattern)), line
                above = above if found[1] else CHECKOUT / pattern
                checked += 1
    assert checked > 5


def test_every_option_of_a_benchmark_exists() -> None:
    unknown = []
    for page in PAGES:
        scripts = [block.text for block in blocks(page) if block.language == "sh"]
        for command in [command for script in scripts for command in commands(script)]:
            if found := re.match(r"\.venv/bin/python -m (benchmarks\.\w+)(.*)", command):
                source = (CHECKOUT / f"{found[1].replace('.', '/')}.py").read_text(encoding="utf-8")
                options = re.findall(r"(?<= )--[\w-]+", found[2])
                unknown += [f"{names(page)}: {found[1]} {each}" for each in options if f'"{each}"' not in source]
    assert unknown == []


@for_each("page", ["accounts.md", "tutorials/student.md", "tutorials/instructor.md"])
def test_what_the_pages_of_the_service_are_said_to_show_is_in_them(page: str) -> None:
    """Names of pages, buttons and problems are emphasized: *Submit*."""
    templates = "\n".join(path.read_text(encoding="utf-8") for path in CHECKOUT.glob("app/*/templates/**/*.html"))
    titles = "\n".join(path.read_text(encoding="utf-8") for path in CHECKOUT.glob("problems/*/problem.toml"))
    shown = " ".join(f"{templates}\n{titles}\n{[each.name for each in EXPLAINED.values()]}".lower().split())
    named = re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", prose(DOCS / page))
    assert {name for name in named if " ".join(name.lower().split()) not in shown} == set()
