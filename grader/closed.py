"""The base class of everything that is stored or sent of a verdict."""

from pydantic import BaseModel, ConfigDict


class Closed(BaseModel):
    """Strict and frozen; an unknown field is an error."""

    # An error's message is logged, and what a submission printed must not be.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)
