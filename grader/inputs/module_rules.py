"""What the further modules of an explored source must be: few, short, and named so that they hide no other module."""

import sys
from collections.abc import Mapping

from grader.core.installed_modules import is_installed

MAX_MODULES = 8
MAX_MODULE_BYTES = 64 << 10
# The source itself is the module `submission`, and the runner's own package is `grader`.
_RESERVED = ("submission", "grader", "__main__")


def fault_of_modules(modules: Mapping[str, str]) -> str | None:
    """Say what is wrong with these modules (sources by name), and what to do about it; None if nothing is."""
    if len(modules) > MAX_MODULES:
        return f"There are {len(modules)} modules. At most {MAX_MODULES} can come with a source."
    for name, source in modules.items():
        if not (name.isidentifier() and name.isascii()):
            return (
                f"{name[:80]!r} cannot be the name of a module. Write the name that the source imports, such as model "
                "for `from model import Block`."
            )
        if name in _RESERVED:
            return f"A module cannot be named {name}, because the Explorer uses that name. Choose another name."
        if is_installed(name):
            of = "Python" if name in sys.stdlib_module_names else "an installed package"
            return f"A module cannot be named {name}, because it would hide a module of {of}. Choose another name."
        if "\0" in source:
            line = source.count("\n", 0, source.index("\0")) + 1
            return f"The module {name} has a NUL character on line {line}, which Python does not permit. Remove it."
        if not _is_text(source):
            return f"The module {name} has half of a surrogate pair, which is not a character. Send it as UTF-8."
    size = sum(len(source.encode("utf-8")) for source in modules.values())
    if size > MAX_MODULE_BYTES:
        return (
            f"The modules have {size:,} bytes together. At most {MAX_MODULE_BYTES:,} are accepted. Leave out what the "
            "function does not use."
        )
    return None


def _is_text(source: str) -> bool:
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
