"""One test for many texts: it fails once, and lists every fault, so that an author can fix all of them together.

A test id for each page, name or problem made collecting the tests take longer than reading the texts.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def assert_none(faults: Iterable[str]) -> None:
    """Fail with every fault on a line of its own. pytest shows only the first item of a list that should be empty."""
    found = list(faults)
    assert not found, "\n".join([f"{len(found)} faults:" if len(found) > 1 else "", *found])


def for_each(
    names: str, values: Iterable[Any], *, ids: Callable[[Any], object] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Like `pytest.mark.parametrize`, as one test that fails with what is wrong for each value.

    For checks that share nothing and take milliseconds. Fixtures are made once for all values.

    Args:
      names: the argument, or several with commas between them.
      ids: names a value in the message; by default, it is written as it is.
    """
    wanted = [each.strip() for each in names.split(",")]
    listed = list(values)

    def arguments(value: Any) -> dict[str, Any]:
        return dict(zip(wanted, [value] if len(wanted) == 1 else value, strict=True))

    def named(value: Any, error: AssertionError) -> str:
        shown = ids(value) if ids else value if len(wanted) == 1 else " ".join(map(str, value))
        return f"{shown}: {error}"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            assert listed, "there is nothing to test"
            faults = []
            for value in listed:
                try:
                    test(**fixtures, **arguments(value))
                except AssertionError as error:
                    faults.append(named(value, error))
                except Exception as error:
                    error.add_note(f"with {names} = {value!r}")
                    raise
            assert_none(faults)

        @functools.wraps(test)
        async def run_async(**fixtures: Any) -> None:
            assert listed, "there is nothing to test"
            faults = []
            for value in listed:
                try:
                    await test(**fixtures, **arguments(value))
                except AssertionError as error:
                    faults.append(named(value, error))
                except Exception as error:
                    error.add_note(f"with {names} = {value!r}")
                    raise
            assert_none(faults)

        one: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in wanted]
        one.__signature__ = signature.replace(parameters=kept)
        return one

    return decorate
