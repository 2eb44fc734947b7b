"""Import the further modules that come with a source from memory, because there is no file that Python could import."""

import linecache
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType


class FurtherModules(MetaPathFinder, InspectLoader):
    """Finds and runs modules, each in a namespace of its own. Tracebacks name the module `model` as `model.py`.

    Args:
      sources: the source of each module, by its name. The names are not those of installed modules.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = {name: source.removeprefix("\N{BYTE ORDER MARK}") for name, source in sources.items()}

    def install(self) -> None:
        """Let the process import these modules, and show their lines in tracebacks."""
        for name, source in self._sources.items():
            linecache.cache[file_of(name)] = (len(source), None, source.splitlines(keepends=True), file_of(name))
        sys.meta_path.insert(0, self)

    def has_file(self, file: str) -> bool:
        return any(file == file_of(name) for name in self._sources)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._sources:
            return None
        spec = ModuleSpec(fullname, self, origin=file_of(fullname))
        # With a location, Python sets `__file__`, by which `inspect` and JAX find a source.
        spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        return self._sources[fullname]

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._sources[fullname], file_of(fullname))


def file_of(module: str) -> str:
    return f"{module}.py"


def is_of_further_module(file: str) -> bool:
    """Whether it is the file of a module that this process can import from memory."""
    return any(isinstance(finder, FurtherModules) and finder.has_file(file) for finder in sys.meta_path)
