"""What a message says of an import that failed. What it lists can be imported in the sandbox."""

import pytest

from grader.core.errors import SubmissionFault
from grader.inputs.explored_function import read_function
from grader.judging.judge import Judge
from grader.modes.import_advice import import_advice, installed_packages
from grader.modes.report import fault_message

ONE_FILE = "the source has to be one file."
ADDED = "`--module` on the command line, or `modules` over REST."


def test_what_is_listed_can_be_imported_and_nothing_else(judge: Judge) -> None:
    listed = installed_packages()
    assert listed[:4] == ("jax", "flax", "optax", "numpy")
    printed = judge.run_script(f"import {', '.join(listed)}\nprint('all of them')\n")
    assert (printed.stdout, printed.fault) == ("all of them\n", None)
    missing = judge.run_script("import importlib.util\nprint(importlib.util.find_spec('torch'))\n")
    assert ("torch" in listed) == (missing.stdout != "None\n")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("import my_layers.attention", "If `my_layers` is your own module, add it. Use *Add a module* on the page"),
        ("from .layers import MLP", "Import your own module by its name alone, as in `from model import Block`"),
        ("from jax.experimental.nowhere import f", "Installed here is jax 0."),
        ("from jax.sharding import Nothing", "Installed here is jax 0."),
    ],
    ids=["own", "relative", "submodule", "name"],
)
def test_a_failed_import_of_an_explored_source_has_advice(judge: Judge, line: str, advice: str) -> None:
    source = f"{line}\n\ndef f(x):\n    return x\n"
    with pytest.raises(SubmissionFault) as raised:
        judge.inspect_function(read_function("f", "data=2", "x: float32[8]"), source)
    message = fault_message(raised.value)
    assert f"line 1, in <module>\n    {line}" in message
    assert advice in message.splitlines()[-1]
    assert "own module" not in advice or message.endswith(ADDED)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("No module named 'my_layers'", f"If `my_layers` is your own module, paste its code: {ONE_FILE}"),
        (
            "attempted relative import with no known parent package",
            f"Paste the code of your own module here instead of importing it: {ONE_FILE}",
        ),
    ],
    ids=["own", "relative"],
)
def test_a_submission_to_a_problem_stays_one_file(message: str, advice: str) -> None:
    found = import_advice("ImportError", message)
    assert found is not None
    assert found.endswith(advice)


def test_an_import_inside_a_function_has_advice_too(judge: Judge) -> None:
    with pytest.raises(SubmissionFault) as raised:
        judge.inspect_function(
            read_function("f", "data=2", "x: float32[8]"), "def f(x):\n    import my_layers\n    return x\n"
        )
    last = fault_message(raised.value).splitlines()[-1]
    assert last.startswith("`my_layers` is not installed here. These are: jax, flax, optax, numpy, ")


def test_a_known_package_is_not_taken_for_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.modes.import_advice.installed_packages", lambda: ("jax", "numpy"))
    advice = import_advice("ModuleNotFoundError", "No module named 'torch'")
    assert advice == "`torch` is not installed here. These are: jax, numpy."
    advice = import_advice("ModuleNotFoundError", "No module named 'haiku.initializers'")
    assert advice == (
        "`haiku` is not installed here. These are: jax, numpy. "
        "Write the model with `flax.nnx`, or as a function of a dict of arrays."
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("ValueError", "No module named 'x'"),
        ("ImportError", "a message of the author's own"),
        ("ModuleNotFoundError", "No module named '_tkinter'"),
        ("ImportError", "cannot import name 'x' from 'submission' (submission.py)"),
    ],
    ids=["value", "own", "standard", "itself"],
)
def test_another_fault_has_no_advice_on_imports(kind: str, message: str) -> None:
    assert import_advice(kind, message) is None
