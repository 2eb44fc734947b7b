"""The command line: `./meshgrade COMMAND`. A command's module is imported only when it is called."""

import atexit
import gc
import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from app.core.start_errors import ServerUnusable, StartRefused
from app.core.version import VERSION
from app.entry.cli.errors import explain
from grader.core.errors import MeshgradeError

# Each has a module, with underscores for hyphens, which imports heavy modules inside its function.
COMMANDS = (
    "serve",
    "worker",
    "judge",
    "login",
    "logout",
    "problems",
    "pull",
    "run",
    "submit",
    "hint",
    "editorial",
    "give-up",
    "inspect",
    "explore",
    "problem",
    "doctor",
    "install-gpu",
    "install-tpu",
    "backup",
    "restore",
    "migrate",
    "database-roles",
    "reset-password",
)
# Commands of the checkout alone, which ./meshgrade starts itself.
_OF_THE_CHECKOUT = ("bench", "test")
_USAGE, _FAILED = 2, 3


class _LazyCommands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _OF_THE_CHECKOUT and not ctx.resilient_parsing:
            raise StartRefused(
                f"`{cmd_name}` needs a checkout of the repository",
                f"Run ./meshgrade {cmd_name} in a clone, which installs what is missing. The container image "
                "has no tests and no benchmarks.",
            )
        return command_of(cmd_name) if cmd_name in COMMANDS else None


def command_of(name: str) -> Any:
    """The function that a module is named after, with its HELP; or `app`, if the module has a group of commands."""
    own_name = name.replace("-", "_")
    module = importlib.import_module(f"app.entry.cli.{own_name}")
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        group.command(help=module.HELP)(getattr(module, own_name))
    command = get_command(group)
    # A group of commands has no name, and the help would list it without one.
    command.name = name
    return command


app = typer.Typer(
    cls=_LazyCommands,
    name="meshgrade",
    help="Meshgrade grades practice problems in distributed JAX.",
    epilog="In a checkout, ./meshgrade test runs the tests, and ./meshgrade bench measures how fast grading is.",
    no_args_is_help=True,
    # Only here: the completion of each command would be the same.
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(is_set: bool) -> None:
    if is_set:
        print(f"meshgrade {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Meshgrade grades practice problems in distributed JAX."""


def main() -> None:
    # Otherwise Python visits every object when it ends, and frees memory that the system takes back anyway.
    atexit.register(gc.freeze)
    try:
        app(prog_name="meshgrade")
    except MeshgradeError as error:
        explain(error)
        sys.exit(_FAILED if isinstance(error, ServerUnusable) else _USAGE)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
