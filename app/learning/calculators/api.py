"""REST: the calculators, which are public. Each has its own route, so that the description names its inputs."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi import Query

from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.learning.calculators.calculator import Calculator, Choice, Input
from app.learning.calculators.errors import InputsImpossible
from app.learning.calculators.formulas.impossible_inputs import Impossible
from app.learning.calculators.schemas import CalculationJSON, CalculatorList
from app.learning.calculators.tables import CALCULATORS

router = RestRouter("calculators")


@router.get("/calculators", summary="All calculators, and presets for their inputs")
async def list_calculators() -> CalculatorList:
    return CalculatorList.of(CALCULATORS)


def _route(calculator: Calculator) -> Callable[..., Awaitable[CalculationJSON]]:
    """A route function with a parameter for each input, which FastAPI reads off its signature."""

    async def calculate(**values: Any) -> CalculationJSON:
        try:
            results = calculator.results(values)
        except Impossible as impossible:
            errors = [{"field": impossible.field, "message": str(impossible)}]
            raise InputsImpossible(f"{impossible.field}: {impossible}", errors=errors) from None
        return CalculationJSON.with_results(calculator, values, results)

    parameters = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=_annotation(each))
        for each in calculator.inputs
    ]
    calculate.__name__ = f"calculate_{calculator.name.replace('-', '_')}"
    # What FastAPI reads, instead of the annotations of the function above.
    calculate.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return calculate


def _annotation(field: Input) -> Any:
    if isinstance(field, Choice):
        return Annotated[Literal[field.values], Query(description=field.label)]
    about = f"{field.label}, {field.unit}" if field.unit else field.label
    limits: dict[str, Any] = {"ge": field.least, "le": field.most, "description": about}
    if field.whole:
        return Annotated[int, Query(**limits)]
    return Annotated[float, Query(allow_inf_nan=False, **limits)]


for _each in CALCULATORS:
    router.add_api_route(
        f"/calculators/{_each.name}",
        _route(_each),
        summary=_each.summary.rstrip("."),
        response_model=CalculationJSON,
        responses=problem_responses(409, 422),
    )
