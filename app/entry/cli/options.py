"""Options of several commands."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path | None, typer.Option(help="Data folder. Default: data, in the checkout.")]
