"""Who reads the catalogue in this request, and which versions only they see.

The catalogue asks here, and not each of its many readers, so that none of them can forget to. Outside a request, nobody
is the viewer, and no private problem is seen. app/problems/viewing.py sets it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from grader.package.package import Package


def _unchanged(package: Package) -> Package:
    return package


@dataclass(frozen=True, slots=True)
class Viewer:
    """The network address of the client, and the packages that only some see, by slug. Staff see every problem.

    `in_own_variant` returns a package in the viewer's variant. Outside a request, that is the first one.
    """

    address: str = ""
    private: Mapping[str, Package] = field(default_factory=dict)
    is_staff: bool = False
    in_own_variant: Callable[[Package], Package] = _unchanged


NOBODY = Viewer()
_viewer: ContextVar[Viewer] = ContextVar("viewer", default=NOBODY)


def viewer() -> Viewer:
    return _viewer.get()


@contextmanager
def viewed_by(found: Viewer) -> Iterator[None]:
    """Let everything inside be read as this viewer."""
    token = _viewer.set(found)
    try:
        yield
    finally:
        _viewer.reset(token)
