"""A source as a module: this code must read everything that Python reads from a file."""

import io
import sys

import pytest

from grader.runner.submission import Submission, SubmissionFailed

MARK = "\N{BYTE ORDER MARK}"


def test_a_byte_order_mark_is_skipped():
    submission = Submission.load(f"{MARK}def double(x):\n    return 2 * x\n", "double")
    assert submission.call([21]) == 42


def test_a_fault_behind_a_byte_order_mark_is_where_an_editor_shows_it():
    with pytest.raises(SubmissionFailed) as caught:
        Submission.load(f"{MARK}x = [\n", "double")
    assert (caught.value.reason, caught.value.detail) == ("syntax_error", {"line": 1, "column": 5})


def test_a_mark_further_on_is_a_syntax_error_as_in_a_file():
    with pytest.raises(SubmissionFailed, match="invalid non-printable character U\\+FEFF"):
        Submission.load(f"x = 1\n{MARK}y = 2\n", "double")


def test_input_says_that_there_is_nothing_to_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SubmissionFailed, match="There is no standard input here") as caught:
        Submission.load("print('which axis?')\naxis = int(input())\n", "f")
    assert [each["line"] for each in caught.value.detail["traceback"]] == [2]


MODEL = "import layers\nLOADED = []\n\ndef forward(x):\n    return layers.double(x) + 1\n"
LAYERS = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Load a source with modules, and forget them afterwards."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)

    def loaded(source: str, **modules: str) -> Submission:
        return Submission.load(source, "f", modules)

    yield loaded
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_further_modules_are_imported_from_memory_each_in_its_own_namespace(load):
    source = (
        "import inspect, model\nfrom model import forward\n\ndef f(x):\n"
        "    assert 'layers' not in globals() and inspect.getsource(model.layers.double).startswith('def double')\n"
        "    return forward(x), model.__name__, model.__file__\n"
    )
    assert load(source, model=f"{MARK}{MODEL}", layers=LAYERS).call([20]) == (41, "model", "model.py")


@pytest.mark.parametrize(
    ("layers", "line", "message"),
    [
        (
            LAYERS.replace("2 * x", "x.none"),
            4,
            "'int' object has no attribute 'none'\nRaised in layers.py, line 2, in double:\n    return x.none",
        ),
        ("x = [\n", 1, "SyntaxError on line 1 of layers.py, column 5: '[' was never closed\n    x = ["),
        ("\n1 / 0\n", 1, "division by zero\nRaised in layers.py, line 2, in <module>:\n    1 / 0"),
    ],
    ids=["call", "syntax", "import"],
)
def test_a_fault_in_a_further_module_is_named_and_leads_to_the_source(load, layers, line, message):
    with pytest.raises(SubmissionFailed) as caught:
        load("from model import forward\n\ndef f(x):\n    return forward(x)\n", model=MODEL, layers=layers).call([1])
    assert caught.value.message.startswith(message)
    detail = caught.value.detail
    assert (detail.get("line") or detail["traceback"][-1]["line"]) == line


def test_a_fault_of_the_source_that_a_module_calls_names_no_module(load):
    with pytest.raises(SubmissionFailed) as caught:
        load(
            "from model import call\n\ndef f(x):\n    return call(lambda: x.none)\n",
            model="def call(g):\n    return g()\n",
        ).call([1])
    assert "model.py" not in caught.value.message
