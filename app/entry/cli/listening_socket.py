"""The listening socket. It is opened before anything slow, so that a port in use is reported at once."""

import errno
import ipaddress
import resource
import socket

from app.core.start_errors import AddressUnusable

_BACKLOG = 2048
_OPEN_FILES = 65536


def allow_many_connections() -> None:
    """Raise the soft limit of open files to the hard one. Each event stream and each long poll is an open file, and
    many systems begin with 1,024: a thousand students who wait would then close the service to everybody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(host: str, port: int) -> socket.socket:
    """Listen on `host`:`port`. Port 0 picks a free one. Raises `AddressUnusable`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise AddressUnusable(
            f"the host {host!r} cannot be resolved: {error.strerror}.",
            "Use --host 127.0.0.1 (this machine only) or --host 0.0.0.0 (every network).",
        ) from error
    sock = socket.socket(family, kind, protocol)
    try:
        # A restart must not wait until the connections of the previous server time out.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        # Immediately: until one of them listens, Linux lets two sockets with SO_REUSEADDR bind the same port.
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise _explain(error, host, port) from error
    return sock


def address_of(sock: socket.socket, host: str) -> str:
    """The address to open in a browser on this machine."""
    if host in ("0.0.0.0", "::", ""):
        host = "localhost"
    port = sock.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(sock: socket.socket) -> bool:
    return ipaddress.ip_address(sock.getsockname()[0]).is_loopback


def _explain(error: OSError, host: str, port: int) -> AddressUnusable:
    if error.errno == errno.EADDRINUSE:
        return AddressUnusable(
            f"port {port} on {host} is in use by another program.",
            f"Stop that program (find it with: ss -ltnp 'sport = :{port}'), or choose another port: --port {port + 1}. "
            "With --port 0, the system picks a free one.",
        )
    if error.errno == errno.EACCES:
        return AddressUnusable(
            f"this user is not permitted to listen on port {port}.", "Choose a port from 1024 up, such as --port 8000."
        )
    return AddressUnusable(
        f"cannot listen on {host}, port {port}: {error.strerror or error}.",
        "Set --host to an address of this machine, such as 127.0.0.1.",
    )
