"""`meshgrade problem`: what an author does with a package. Each subcommand has its own module."""

import typer

from app.entry.cli import (
    problem_check,
    problem_new,
    problem_preview,
    problem_publish,
    problem_pull,
    problem_push,
    problem_sync,
)

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Write a problem: start a package, check it, preview it, and publish it on a server.",
    no_args_is_help=True,
)
app.command(help=problem_new.HELP)(problem_new.new)
app.command(help=problem_check.HELP)(problem_check.check)
app.command(help=problem_preview.HELP)(problem_preview.preview)
app.command(help=problem_push.HELP)(problem_push.push)
app.command(help=problem_publish.HELP)(problem_publish.publish)
app.command(help=problem_pull.HELP)(problem_pull.pull)
app.command(help=problem_sync.HELP)(problem_sync.sync)


@app.callback()
def _group() -> None:
    """Write a problem."""
