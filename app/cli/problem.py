"""`meshgrade problem`: what an author does with a package. Each subcommand has a module of its own."""

import typer

from app.cli import problem_check, problem_new

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Write a problem: start a package, and check it.",
    no_args_is_help=True,
)
app.command(help=problem_new.HELP)(problem_new.new)
app.command(help=problem_check.HELP)(problem_check.check)


@app.callback()
def _group() -> None:
    """Write a problem."""
