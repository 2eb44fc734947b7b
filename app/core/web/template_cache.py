"""Compiled templates are stored beside Python's own compiled files: compiling all of them takes over a second."""

import hashlib
import importlib.metadata
import sys
from contextlib import suppress
from pathlib import Path

from jinja2 import Environment
from jinja2.bccache import Bucket, FileSystemBytecodeCache


class TemplateCache(FileSystemBytecodeCache):
    """Jinja's own cache. A folder that cannot be used means only that every start compiles."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def template_cache(environment: Environment) -> TemplateCache | None:
    """The cache below PYTHONPYCACHEPREFIX, which `./meshgrade` sets; None if Python stores no compiled files there.

    Jinja itself notices a changed template. The folder's name changes with everything else that compiling depends on:
    a template that uses a filter which no longer exists must fail when it is compiled.
    """
    if sys.pycache_prefix is None or sys.dont_write_bytecode:
        return None
    known = [importlib.metadata.version("jinja2"), *sorted(environment.filters), *sorted(environment.tests)]
    name = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
    return TemplateCache(str(Path(sys.pycache_prefix) / "templates" / name))
