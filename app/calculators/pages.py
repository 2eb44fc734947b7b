"""The pages of the calculators: a form that sends its inputs in the address, so that a result can be shared."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import current_user
from app.calculators.calculator import Calculator, Values
from app.calculators.comparison import tables
from app.calculators.errors import CalculatorNotFound
from app.calculators.measured import JAX_VERSION, comparisons_of
from app.calculators.plotting import plot_of
from app.calculators.presets import KINDS, PRESETS, values_with
from app.calculators.reading import as_query, is_number, read_inputs
from app.calculators.tables import BY_NAME, GROUPS
from app.calculators.units import exact_text, short_text
from app.web.templating import render_page
from grader.package.names import suggest

router = APIRouter(include_in_schema=False)
MaybeUser = Annotated[User | None, Depends(current_user)]


@router.get("/calculators")
async def list_all_calculators(user: MaybeUser) -> HTMLResponse:
    return render_page("calculators.html", user=user, groups=GROUPS)


@router.get("/comparison")
async def compare_strategies(user: MaybeUser) -> HTMLResponse:
    return render_page("comparison.html", user=user, tables=tables(), jax_version=JAX_VERSION)


@router.get("/calculators/{name}")
async def show_calculator(request: Request, user: MaybeUser, name: str) -> HTMLResponse:
    """With the inputs of the address, and defaults for the others."""
    calculator = BY_NAME.get(name)
    if calculator is None:
        raise CalculatorNotFound(f"There is no calculator {name[:64]!r}{suggest(name, list(BY_NAME))}.")
    reading = read_inputs(calculator, request.query_params)
    return render_page(
        "calculator.html",
        status_code=422 if reading.faults else 200,
        user=user,
        calculator=calculator,
        reading=reading,
        is_number=is_number,
        address=_address(calculator, reading.values),
        presets=[(KINDS[kind], _links(calculator, kind, reading.values)) for kind in calculator.presets],
        plot=None if reading.results is None else plot_of(calculator, reading.values),
        comparisons=[(each, _address(calculator, each.inputs)) for each in comparisons_of(name)],
        jax_version=JAX_VERSION,
        short_text=short_text,
        exact_text=exact_text,
    )


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
