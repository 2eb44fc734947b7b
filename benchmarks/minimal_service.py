"""A minimal FastAPI application, served like `meshgrade serve`, and a load of requests for either.

Usage: python -m benchmarks.minimal_service serve | load ADDRESS PATH SECONDS
"""

import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.errors import BenchmarkFailed
from benchmarks.http_client import Connection

_CONNECTIONS = 16
PATH = "/api/v1/problems"


def ratio(address: str, *, rounds: int, seconds: float) -> tuple[float, float]:
    """Requests per second for our problems, and as a multiple of the hello-world's: medians of rounds.

    The two servers take turns, so other load on the machine affects both; the clients are a process of their own.
    """
    with _serving() as hello:
        for server, path in ((address, PATH), (hello, "/")):
            _load(server, path, 0.5)
        pairs = [(_load(address, PATH, seconds), _load(hello, "/", seconds)) for _ in range(rounds)]
    return statistics.median(ours for ours, _ in pairs), statistics.median(ours / bare for ours, bare in pairs)


def _load(address: str, path: str, seconds: float) -> float:
    command = [sys.executable, "-m", "benchmarks.minimal_service", "load", address, path, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False)
    if done.returncode:
        raise BenchmarkFailed(f"the clients of {path} failed: {done.stderr[-1000:]}")
    return float(json.loads(done.stdout))


@contextlib.contextmanager
def _serving() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.minimal_service", "serve"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def serve() -> None:
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/")
    async def hello() -> dict[str, str]:
        return {"message": "Hello World"}

    sock = socket.create_server(("127.0.0.1", 0), backlog=2048)
    host, port = sock.getsockname()
    print(f"{host}:{port}", flush=True)
    # The options of app/entry/cli/serve.py.
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, proxy_headers=True)
    uvicorn.Server(config).run(sockets=[sock])


async def load(address: str, path: str, seconds: float) -> float:
    """Requests per second, from clients that each send the next request as soon as they get an answer."""
    until = time.perf_counter() + seconds

    async def client() -> int:
        count = 0
        async with Connection(address) as connection:
            while time.perf_counter() < until:
                status, _ = await connection.ask("GET", path)
                if status != 200:
                    raise BenchmarkFailed(f"{path} was answered with {status}")
                count += 1
        return count

    return sum(await asyncio.gather(*(client() for _ in range(_CONNECTIONS)))) / seconds


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["load", where, what, how_long]:
            print(json.dumps(asyncio.run(load(where, what, float(how_long)))))
        case _:
            sys.exit(__doc__)
