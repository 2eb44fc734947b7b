"""How many lines of code a problem asks for."""

from dataclasses import replace

from app.problems.written_lines import lines_to_write

STARTER = '''"""A module."""
import jax


def double(x):
    """Twice x.

    Returns: an array.
    """
    raise NotImplementedError
'''
REFERENCE = '''"""Another text of the module."""
import jax


def double(x):
    """Twice x, said otherwise."""
    # The same line twice counts twice.
    x = x
    x = x

    return x + x
'''


def test_lines_of_code_that_the_starter_does_not_have_are_counted(package):
    assert lines_to_write(replace(package, starter=STARTER, reference=REFERENCE)) == 3
    assert lines_to_write(replace(package, starter=REFERENCE, reference=REFERENCE)) == 0


def test_a_starter_that_is_not_python_is_compared_as_text(package):
    assert lines_to_write(replace(package, starter="def double(x): …\n", reference="def double(x): return x\n")) == 1


def test_answers_have_no_code(package):
    manifest = package.manifest.model_copy(update={"mode": "answer"})
    assert lines_to_write(replace(package, manifest=manifest)) is None
