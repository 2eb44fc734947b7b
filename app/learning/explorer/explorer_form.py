"""The form of the Explorer: what it shows, and what it sent."""

import re
from dataclasses import dataclass, replace

from app.core.rest.actions import Typed
from app.learning.explorer.errors import FunctionRefused
from app.learning.explorer.examples import Example, shipped_results
from app.learning.explorer.schemas import ExplorationJSON
from app.learning.lessons.errors import LessonProgramNotFound
from app.learning.lessons.lesson import Lesson
from grader.core.xla_options import written
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function, read_function
from grader.inputs.module_rules import MAX_MODULES
from grader.package.package import Package

# The box that says that the other version has no options of XLA.
_WITHOUT = "empty-against_xla_options"


@dataclass(frozen=True, slots=True)
class ExplorerForm:
    """What the form shows. With a `package`, the fields of a function are not shown.

    `of_lesson` is the lesson and the number of its program that is shown, and `solution` the name of the package's.
    `modules` has the name and the source of each further module; both are empty for one that is still to be written.
    `options` are those of XLA as they are typed. The other version has the same if `against_options` are empty, and
    none if it `is_without`. `result` is what the source compiles to, if that is known, and `exploration` the id of its
    own page.
    """

    package: Package | None
    source: str
    against: str = ""
    name: str = ""
    mesh: str = ""
    inputs: str = ""
    init: str = ""
    modules: tuple[tuple[str, str], ...] = ()
    chip: str = ""
    options: str = ""
    against_options: str = ""
    is_without: bool = False
    example: Example | None = None
    of_lesson: tuple[Lesson, int] | None = None
    solution: str = ""
    result: Explored | None = None
    exploration: str = ""

    @property
    def fields_line(self) -> str:
        """The fields in one line: `mlp · data=4, model=2 · 3 inputs`. `explored_fields.js` writes the same."""
        # Leaves of one argument are one input.
        count = len({re.split(r"[/:=\s]", line.strip())[0] for line in self.inputs.splitlines() if line.strip()})
        inputs = f"{count} input{'' if count == 1 else 's'}"
        state = (f"state from {self.init.strip()}",) if self.init.strip() else ()
        return " \N{MIDDLE DOT} ".join(filter(None, (self.name.strip(), self.mesh.strip(), *state, inputs)))


def form_of_program(lesson: Lesson, number: str) -> ExplorerForm:
    """Raises `LessonProgramNotFound`: the Explorer has no program with this number."""
    for each in lesson.explorable:
        if str(each.program) == number:
            function, source = each.function, lesson.blocks[each.program - 1].code
            about = (function.name, function.mesh_text, function.inputs_text, function.init or "")
            return ExplorerForm(None, source, "", *about, of_lesson=(lesson, each.program))
    raise LessonProgramNotFound(f"The Explorer has no program {number[:20]!r} of the lesson {lesson.slug!r}.")


def form_of_example(example: Example) -> ExplorerForm:
    function = example.function
    return ExplorerForm(
        None,
        example.source,
        "",
        function.name,
        function.mesh_text,
        function.inputs_text,
        function.init or "",
        chip=example.chip or "",
        example=example,
        result=shipped_results()[example.slug],
    )


def with_options(form: ExplorerForm, found: ExplorationJSON) -> ExplorerForm:
    """The form with the options of an exploration, and those of its other version if they are not the same."""
    mine, other = found.xla_options or {}, found.against_xla_options or {}
    form = replace(form, options=written(mine))
    if found.against is None or mine == other:
        return form
    return replace(form, against_options=written(other), is_without=not other)


def form_in(typed: Typed) -> ExplorerForm:
    """The form as it was sent, without its problem."""
    return ExplorerForm(
        None,
        typed["source"],
        typed["against"],
        typed["function"],
        typed["mesh"],
        typed["inputs"],
        typed["init"],
        _modules_of(typed),
        typed["chip"],
        typed["xla_options"],
        "" if typed[_WITHOUT] else typed["against_xla_options"],
        bool(typed[_WITHOUT]),
    )


def _modules_of(typed: Typed) -> tuple[tuple[str, str], ...]:
    """The name and the source of each module of a form. One without either is left out."""
    names = (f"module-{number}" for number in range(1, MAX_MODULES + 1))
    found = ((typed[name].strip(), typed[f"{name}-source"]) for name in names)
    return tuple((name.removesuffix(".py"), source) for name, source in found if name or source.strip())


def function_of(form: ExplorerForm) -> Function:
    """Raises `FunctionRefused`."""
    by_name = dict(form.modules)
    if len(by_name) < len(form.modules):
        raise FunctionRefused("Two modules have the same name. Give each module a name of its own.")
    try:
        return read_function(form.name, form.mesh, form.inputs, form.init, by_name)
    except ValueError as error:
        raise FunctionRefused(str(error)) from None
