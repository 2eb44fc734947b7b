"""The base class of everything that is stored or sent of a verdict, and the type of its texts."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from grader.text import plain_text

# A submission may have written it. Nothing in it controls a terminal or a page, or misleads the reader.
SafeText = Annotated[str, AfterValidator(plain_text)]


class Closed(BaseModel):
    """Strict and frozen; an unknown field is an error."""

    # An error's message is logged, and what a submission printed must not be.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)
