"""The pages of the calculators: a form that sends its inputs in the address, so that a result can be shared."""

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import HTMLResponse

from app.accounts.web import MaybeUser
from app.core.rest.routing import PageRouter
from app.core.web.highlight import highlight_code
from app.core.web.templating import render_page
from app.learning.calculators.calculator import Calculator, Choice, Input, Number, Values
from app.learning.calculators.comparison import QUANTITIES, bars_by_chips, tables
from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.errors import CalculatorNotFound, ComparisonProgramNotFound
from app.learning.calculators.measured_programs import GPU_COMPILER, JAX_VERSION, REFERENCES, comparisons_of
from app.learning.calculators.plots import plot_of
from app.learning.calculators.presets import KINDS, PRESETS, values_with
from app.learning.calculators.query_inputs import QueryInputs, as_query, is_number, read_inputs
from app.learning.calculators.tables import BY_NAME, GROUPS
from app.learning.calculators.units import exact_text, short_text
from grader.review.names import suggest

router = PageRouter()


@dataclass(frozen=True, slots=True)
class Fold:
    """Inputs behind a summary, which shows their values. Open if an input in it was changed or must be."""

    title: str
    values: str
    inputs: tuple[Input, ...]
    is_open: bool


@router.get("/calculators")
async def list_all_calculators(user: MaybeUser) -> HTMLResponse:
    return render_page("learning/calculators/calculators.html", user=user, groups=GROUPS)


@router.get("/comparison")
async def compare_strategies(user: MaybeUser) -> HTMLResponse:
    compared = tables()
    return render_page(
        "learning/calculators/comparison.html",
        user=user,
        tables=compared,
        quantities=QUANTITIES,
        by_chips=bars_by_chips(compared),
        own=OWN_PROGRAMS.values(),
        jax_version=JAX_VERSION,
        gpu_compiler=GPU_COMPILER,
    )


@router.get("/comparison/{name}")
async def show_comparison_program(user: MaybeUser, name: str) -> HTMLResponse:
    program = OWN_PROGRAMS.get(name)
    if program is None:
        raise ComparisonProgramNotFound(
            f"The comparison has no program {name[:64]!r}{suggest(name, list(OWN_PROGRAMS))}."
        )
    return render_page(
        "learning/calculators/comparison_program.html",
        user=user,
        program=program,
        source=highlight_code(program.source),
        meshes=[each.mesh_name for each in REFERENCES if each.name == name],
    )


@router.get("/calculators/{name}")
async def show_calculator(request: Request, user: MaybeUser, name: str) -> HTMLResponse:
    """With the inputs of the address, and defaults for the others."""
    calculator = BY_NAME.get(name)
    if calculator is None:
        raise CalculatorNotFound(f"There is no calculator {name[:64]!r}{suggest(name, list(BY_NAME))}.")
    reading = read_inputs(calculator, request.query_params)
    comparisons = comparisons_of(name)
    return render_page(
        "learning/calculators/calculator.html",
        status_code=422 if reading.faults else 200,
        user=user,
        calculator=calculator,
        reading=reading,
        basics=[each for each in calculator.inputs if not any(each.name in names for _, names in calculator.folded)],
        folds=[_fold(calculator, reading, title, names) for title, names in calculator.folded],
        is_number=is_number,
        address=_address(calculator, reading.values),
        presets=[(KINDS[kind], _links(calculator, kind, reading.values)) for kind in calculator.presets],
        plot=None if reading.results is None else plot_of(calculator, reading.values),
        comparisons=[(each, _address(calculator, each.inputs)) for each in comparisons],
        bounded=any(each.is_bound for each in comparisons),
        on_h100=any(each.on_h100 is not None for each in comparisons),
        gpu_compiler=GPU_COMPILER,
        jax_version=JAX_VERSION,
        short_text=short_text,
        exact_text=exact_text,
    )


def _fold(calculator: Calculator, reading: QueryInputs, title: str, names: tuple[str, ...]) -> Fold:
    inputs = tuple(each for each in calculator.inputs if each.name in names)
    changed = any(
        reading.values[each.name] != each.default for each in inputs if isinstance(each, Choice) or not each.fill
    )
    is_open = changed or any(name in reading.faults for name in names)
    return Fold(title, " · ".join(_value_text(each, reading.typed[each.name]) for each in inputs), inputs, is_open)


def _value_text(field: Input, typed: str) -> str:
    if isinstance(field, Number):
        return f"{field.label} {typed} {field.unit}".rstrip()
    label = dict(field.options).get(typed, typed)
    return f"{field.label}: {label.partition(':')[0].partition(',')[0]}"


def _address(calculator: Calculator, values: Values | None) -> str:
    return f"/calculators/{calculator.name}?{urlencode(as_query(values))}" if values is not None else ""


def _links(calculator: Calculator, kind: str, values: Values) -> list[dict[str, object]]:
    """Each preset with the address that has its values instead of some inputs."""
    links: list[dict[str, object]] = []
    for preset in PRESETS[kind]:
        filled = values_with(calculator, values, preset)
        links.append(
            {
                "title": preset.title,
                "source": preset.source,
                "href": _address(calculator, filled),
                "is_chosen": filled == dict(values),
            }
        )
    return links
