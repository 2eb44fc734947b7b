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

# Name -> module. Each module has `app`, a Typer with one command or a group, and imports heavy modules inside it.
COMMANDS = {
    "serve": "app.entry.cli.serve",
    "worker": "app.entry.cli.worker",
    "judge": "app.entry.cli.judge",
    "login": "app.entry.cli.login",
    "logout": "app.entry.cli.logout",
    "problems": "app.entry.cli.problems",
    "pull": "app.entry.cli.pull",
    "run": "app.entry.cli.run",
    "submit": "app.entry.cli.submit",
    "hint": "app.entry.cli.hint",
    "editorial": "app.entry.cli.editorial",
    "give-up": "app.entry.cli.give_up",
    "inspect": "app.entry.cli.inspect",
    "explore": "app.entry.cli.explore",
    "problem": "app.entry.cli.problem",
    "doctor": "app.entry.cli.doctor",
    "install-gpu": "app.entry.cli.install_gpu",
    "install-tpu": "app.entry.cli.install_tpu",
    "backup": "app.entry.cli.backup",
    "restore": "app.entry.cli.restore",
    "migrate": "app.entry.cli.migrate",
    "database-roles": "app.entry.cli.database_roles",
    "reset-password": "app.entry.cli.reset_password",
}
# Commands of the checkout alone, which ./meshgrade starts itself.
_OF_THE_CHECKOUT = ("bench", "test")
_USAGE, _FAILED = 2, 3


class _LazyCommands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = COMMANDS.get(cmd_name)
        if cmd_name in _OF_THE_CHECKOUT and not ctx.resilient_parsing:
            raise StartRefused(
                f"`{cmd_name}` needs a checkout of the repository",
                f"Run ./meshgrade {cmd_name} in a clone, which installs what is missing. The container image "
                "has no tests and no benchmarks.",
            )
        if module is None:
            return None
        command = get_command(importlib.import_module(module).app)
        # A group of commands has no name, and the help would list it without one.
        command.name = cmd_name
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
