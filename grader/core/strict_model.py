"""The base class of all data of a verdict that is stored or sent, and the type of its texts."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from grader.core.text import plain_text

# Text that a submission may have written, made safe: it cannot control a terminal or a page, or mislead a reader.
SafeText = Annotated[str, AfterValidator(plain_text)]


class StrictModel(BaseModel):
    """A strict, frozen model that rejects unknown fields."""

    # Errors are logged, and a log must not contain what a submission printed.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)
