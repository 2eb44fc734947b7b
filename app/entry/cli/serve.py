"""`meshgrade serve`: runs the API, the pages and the graders until Ctrl-C."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.entry.cli.options import Data
from app.entry.cli.process_exit import exit_in_time

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from app.core.services import Services
    from app.core.settings import Settings
HELP = "Start the service: create the data folder and the database, load the problems, print the address."


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1, which only this machine can reach.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. Default: 8000. 0 picks a free one.")] = None,
    data: Data = None,
    processes: Annotated[
        int | None,
        typer.Option(help="How many processes answer at the port. Default: 1 on one or two cores, and otherwise 2."),
    ] = None,
    listeners: Annotated[str | None, typer.Option(hidden=True)] = None,
    number: Annotated[int, typer.Option(hidden=True)] = 1,
) -> None:
    from app.core.neighbours import Neighbours
    from app.core.settings import load_server_settings
    from app.entry.cli.api_processes import ApiProcesses, end_with_the_first, given_sockets, own_sockets
    from app.entry.cli.listening_socket import address_of, allow_many_connections, listen
    from app.operations.operating.logs import set_up_logs

    settings = load_server_settings(host=host, port=port, data=data, api_processes=processes)
    allow_many_connections()
    set_up_logs(settings.log_format, settings.log_level)
    signal.signal(signal.SIGTERM, _interrupt)
    if listeners is not None:
        *sockets, link = given_sockets(listeners)
        end_with_the_first()

        async def talk(services: "Services", address: str) -> None:
            await services[Neighbours].talk(link)

        asyncio.run(run_server(settings, sockets, number=number, beside=talk))
        return
    # Opened first, so that a port in use is reported before any slow work begins.
    with listen(settings.host, settings.port) as sock, own_sockets(settings, sock.getsockname()[1]) as own:
        # Links contain the real port, even if the system chose it.
        bound = settings.model_copy(update={"port": sock.getsockname()[1]})

        async def run_others(services: "Services", address: str) -> None:
            for number, each in enumerate(own, start=1):
                _say(f"Process {number} also listens on {address_of(each, settings.host)}, for its own /metrics")
            await ApiProcesses(bound, sock, own[1:], services[Neighbours]).run()

        asyncio.run(run_server(bound, [sock, *own[:1]], beside=run_others if bound.api_processes > 1 else None))
    sys.stdout.flush()


async def run_server(
    settings: "Settings",
    sockets: list[socket.socket],
    *,
    number: int = 1,
    beside: "Callable[[Services, str], Coroutine[Any, Any, None]] | None" = None,
    wrap: "Callable[[ASGIApp], ASGIApp]" = lambda app: app,
) -> None:
    """Serve until a signal arrives.

    Args:
      sockets: the first is the one whose address people open.
      number: of this process. The first prints the owner's link.
      beside: runs while it serves, with its services and its address.
      wrap: puts another application around the service.
    """
    import uvicorn

    from app.accounts.service import Accounts
    from app.core.neighbours import Neighbours
    from app.entry.cli.listening_socket import address_of, is_loopback
    from app.entry.main import create_app
    from app.grading.attempts.service import Attempts

    service = create_app(settings, say=_say, neighbours=Neighbours(number))
    listening, is_first = sockets, number == 1

    def opened() -> "Services":
        services: Services = service.state.services
        return services

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            # What exists by now stays. Without this, Python visits all of it again and again while it serves.
            gc.freeze()
            if is_first:
                _announce(address, link, "" if is_loopback(listening[0]) else settings.host)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Open event streams and long polls end now, or uvicorn would wait for them.
            opened()[Attempts].events.close()
            await super().shutdown(sockets)

    address = settings.public_url or address_of(sockets[0], settings.host)
    # The lifespan runs here instead of in uvicorn, which would print a traceback if the data folder is in use.
    async with service.router.lifespan_context(service):
        accounts = opened()[Accounts]
        owner = await accounts.ensure_owner()
        link = await accounts.new_sign_in_link(owner) if is_first else ""
        # After its graceful end, uvicorn restores these and raises the signal again, which has been handled by then.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _ignore)
        task = asyncio.create_task(beside(opened(), address)) if beside is not None else None
        await Server(_config(wrap(service))).serve(sockets=sockets)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        exit_in_time()


def _config(app: "ASGIApp") -> "uvicorn.Config":
    import uvicorn

    from app.entry.cli.http_protocol import BoundedProtocol

    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # app/core/web/proxies.py reads them.
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )


def _announce(address: str, link_token: str, open_host: str) -> None:
    """`open_host` is the host if other machines can reach it, or empty."""
    _say(f"Meshgrade listens on {address}")
    if open_host:
        _say(f"Note: other machines can reach {open_host}. Put it behind HTTPS. See docs/settings.md.")
    _say(f"Sign in (works once): {address}/sign-in?token={link_token}")
    _say("Press Ctrl-C to stop.")


def _say(line: str) -> None:
    # In one call: several threads prepare problems, and `print` writes the end of a line separately.
    print(f"{line}\n", end="", flush=True)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _ignore(number: int, frame: object) -> None:
    pass
