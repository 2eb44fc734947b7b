"""Why a calculation or a page of the calculators is refused."""

from app.core.errors import Refused


class CalculatorNotFound(Refused):
    status, slug, title = 404, "calculator-not-found", "There is no such calculator"


class ComparisonProgramNotFound(Refused):
    status, slug, title = 404, "comparison-program-not-found", "The comparison has no such program"


class InputsImpossible(Refused):
    """Each input is in its range, but together they describe something impossible. `errors` names the field."""

    status, slug, title = 409, "inputs-impossible", "The inputs contradict each other"
