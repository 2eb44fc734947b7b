"""One unit in sixteen is measured again, so a receipt that somebody typed is found."""

import pytest

from tests.faults import assert_none
from tests.prove.checks import drawn, measured_again
from tests.prove.kind import Kind, Receipts
from tests.prove.kinds import KINDS

# With --all, these are all units of a kind, one after the other.
pytestmark = pytest.mark.timeout(3600)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_drawn_units_are_what_their_receipts_say(kind: Kind) -> None:
    assert_none(measured_again(kind, drawn(kind), Receipts()))
