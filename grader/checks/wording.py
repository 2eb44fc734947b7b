"""How a check describes its bounds to students: in plain words, and exactly."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.package.package import Tolerance, ToleranceTable

# Ends the sentence of the check `values`.
ZERO = "; otherwise the whole score is 0"
ONLY_PARTS = "; otherwise the score is the points of the parts that are right"


@dataclass(frozen=True, slots=True)
class Wording:
    """Markdown for one check. `sentences` continue "You pass if …", and `bounds` are exact and complete."""

    sentences: tuple[str, ...]
    bounds: tuple[str, ...] = ()


def listed(words: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, or `a, b and c`."""
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


def named(names: Iterable[str], last: str = "and") -> str:
    """Like `listed`, with each name as code."""
    return listed([f"`{each}`" for each in names], last)


def within(low: float | None, high: float | None) -> str:
    """A range of multiples, before what they are multiples of: `at most 1.5 times`, `0.5 to 1.4 times`, `exactly`."""
    if low is None:
        return f"at most{_times(high)}"
    if high is None:
        return f"at least{_times(low)}"
    return f"exactly{_times(low)}" if low == high else f"{low:g} to {high:g} times"


def _times(number: float | None) -> str:
    return "" if number == 1 else f" {number:g} times"


def expected(low: float | None, high: float | None, words: Callable[[float], str]) -> str:
    """A range after `expected`: `none`, `2x` or `between 1x and 2x`, if `words` is `multiple`."""
    if high == 0:
        return "none"
    if high is None:
        return f"at least {words(low or 0)}"
    if low is None:
        return f"at most {words(high)}"
    return words(low) if low == high else f"between {words(low)} and {words(high)}"


def multiple(number: float) -> str:
    return f"{number:g}x"


def closeness(tolerance: ToleranceTable) -> str:
    """How closely values must match, as the end of a sentence."""
    if tolerance.of_outputs:
        return ", within the tolerance of each output"
    pairs = {(each.rtol, each.atol) for each in tolerance.values()}
    if pairs == {(0.0, 0.0)}:
        return ", bit for bit"
    if len(pairs) == 1:
        ((rtol, atol),) = pairs
        return f" (rtol {power(rtol)}, atol {power(atol)})"
    return ", within the tolerance of each dtype" if pairs else ""


def tolerances(tolerance: ToleranceTable) -> tuple[str, ...]:
    """One sentence for each tolerance that the manifest sets."""
    return (
        *(
            f"{named(each.outputs)}{f' in {each.dtype}' if each.dtype else ''}: {_distance(each)}"
            for each in tolerance.of_outputs
        ),
        *(
            f"{'every other output in ' if tolerance.of_outputs else ''}{dtype}: {_distance(each)}"
            for dtype, each in tolerance.items()
        ),
        "integers and booleans must be equal; NaN and infinity pass only where the reference has the same",
    )


def _distance(tolerance: Tolerance) -> str:
    if tolerance.atol or tolerance.rtol:
        return (
            f"an element may differ from the reference's by {power(tolerance.atol)} plus {power(tolerance.rtol)} "
            "times the absolute value of the reference's"
        )
    return "every element must equal the reference's, bit for bit"


def small(ignore_below: int, what: str) -> Sequence[str]:
    """A sentence about the bytes that do not count; empty if every byte counts."""
    return [f"{what} that move less than {ignore_below} bytes in all do not count"] if ignore_below else []


def power(value: float) -> str:
    """Format a number as `1e-4`, `2.5e-4` or `0`."""
    factor, _, exponent = f"{value:e}".partition("e")
    return f"{float(factor):g}e{int(exponent)}" if value else "0"
