"""Every unit has a receipt of today, and the texts say what was measured."""

import tempfile

import pytest

from tests.faults import assert_none
from tests.import_closure import CHECKOUT
from tests.prove.checks import differences, faults
from tests.prove.kind import Kind, Receipts
from tests.prove.kinds import KINDS

# In one process, which reads each file once.
pytestmark = [
    pytest.mark.xdist_group("receipts"),
    pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name),
]


def test_every_unit_has_a_receipt_of_today(kind: Kind) -> None:
    assert_none(faults(kind, Receipts()))


def test_the_texts_say_what_was_measured(kind: Kind) -> None:
    assert_none(differences(kind, Receipts()))


def test_there_is_something_to_measure(kind: Kind) -> None:
    units = list(kind.units())
    assert units
    assert len(units) == len(set(units))


def test_no_receipt_names_a_place_on_the_machine(kind: Kind) -> None:
    places = (str(CHECKOUT), tempfile.gettempdir())
    paths = [Receipts().path(kind, unit) for unit in kind.units()]
    assert [path.stem for path in paths if any(place in path.read_text(encoding="utf-8") for place in places)] == []
