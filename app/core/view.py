"""The base class of what services return and REST answers with."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """A part of the service as a caller may see it.

    Read from a row or another view, it takes the fields that are named here alone: a new column may be secret, and
    must not be published automatically.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True, validate_by_name=True)

    @classmethod
    def of(cls, source: Any) -> Self:
        """Read from the attributes of `source`, and of what it has."""
        return cls.model_validate(source)

    @classmethod
    def read_from(cls, source: Any, **others: Any) -> Self:
        """Read from the attributes of `source`, except `others`: fields that it lacks or has in another form."""
        read = {
            name: getattr(source, name) for name in cls.model_fields if name not in others and hasattr(source, name)
        }
        return cls.model_validate(read | others)

    @classmethod
    def of_columns(cls, *columns: Any) -> Self:
        """Read from the columns of a query, which are in the order of the fields."""
        return cls(**dict(zip(cls.model_fields, columns, strict=True)))
