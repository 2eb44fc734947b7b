"""What a view takes from what it is read from."""

from types import SimpleNamespace
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from app.core.view import View


class Part(View):
    name: str


class Whole(View):
    id: str
    owner_id: Annotated[str, Field(exclude=True)]
    part: Part | None
    made_by: Annotated[str, Field(serialization_alias="by")]


ROW = SimpleNamespace(id="a", owner_id="o", part=SimpleNamespace(name="p", secret="s"), made_by="ada", secret="s")


def test_a_view_takes_the_fields_that_it_names_and_no_others():
    whole = Whole.of(ROW)
    assert whole == Whole(id="a", owner_id="o", part=Part(name="p"), made_by="ada")
    assert whole.model_dump(by_alias=True) == {"id": "a", "part": {"name": "p"}, "by": "ada"}
    with pytest.raises(ValidationError):
        Whole(id="a", owner_id="o", part=None, made_by="ada", secret="s")
    with pytest.raises(ValidationError):
        whole.id = "b"


def test_columns_are_as_many_as_the_fields():
    assert Part.of_columns("p") == Part(name="p")
    with pytest.raises(ValueError, match="shorter"):
        Whole.of_columns("a", "o", None)


def test_a_view_is_read_from_one_object_and_from_what_that_lacks_or_has_otherwise():
    row = SimpleNamespace(id="a", owner_id="o", made_by=SimpleNamespace(name="ada"), secret="s")
    whole = Whole.read_from(row, part=SimpleNamespace(name="p", secret="s"), made_by="ada")
    assert whole == Whole(id="a", owner_id="o", part=Part(name="p"), made_by="ada")
    with pytest.raises(ValidationError, match="part"):
        Whole.read_from(row, made_by="ada")
    with pytest.raises(ValidationError, match="secret"):
        Whole.read_from(ROW, secret="s")
