"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path | None, typer.Option(help="Data folder; default: data, in the checkout.")]
