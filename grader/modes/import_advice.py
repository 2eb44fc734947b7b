"""Advice on a failed import: what is installed, and how the author's own modules come along."""

import re
import sys
import sysconfig
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Modules that programs for JAX import. Advice lists the installed ones in this order.
_PACKAGES = (
    *("jax", "flax", "optax", "numpy", "scipy", "einops", "equinox", "haiku", "chex", "jaxtyping", "orbax", "grain"),
    *("ml_dtypes", "tensorstore", "treescope", "torch", "tensorflow", "transformers", "pandas", "matplotlib"),
    *("ml_collections", "datasets", "tensorflow_datasets", "tokenizers", "tqdm", "wandb", "tensorboardX", "clu"),
)
# What to write instead of importing a package that is often missing.
_INSTEAD = {
    "haiku": "Write the model with `flax.nnx`, or as a function of a dict of arrays.",
} | dict.fromkeys(("tqdm", "wandb", "tensorboardX", "clu"), "Leave it out: the compiled program does not contain it.")
_MISSING = re.compile(r"No module named '([\w.]{1,200})'")
_NAME = re.compile(r"cannot import name '\w{1,200}' from '([\w.]{1,200})'")
_ONE_FILE = "the source has to be one file"
_HOW = "Use *Add a module* on the page of the Explorer, `--module` on the command line, or `modules` over REST."


def import_advice(kind: str, message: str, *, takes_modules: bool = False) -> str | None:
    """Advice for an exception of the type `kind`, or None if no import failed, or there is nothing to add.

    Args:
      takes_modules: the source may come with further modules.
    """
    if kind not in ("ImportError", "ModuleNotFoundError"):
        return None
    if message.startswith("attempted relative import"):
        if takes_modules:
            return f"Import your own module by its name alone, as in `from model import Block`, and add it. {_HOW}"
        return f"Paste the code of your own module here instead of importing it: {_ONE_FILE}."
    if found := _NAME.match(message):
        return _installed_version(found[1].partition(".")[0])
    found = _MISSING.match(message)
    if found is None:
        return None
    root = found[1].partition(".")[0]
    if root in sys.stdlib_module_names:
        return None
    if root in installed_packages():
        return _installed_version(root)
    advice = f"`{root}` is not installed here. These are: {', '.join(installed_packages())}."
    if root in _PACKAGES:
        return f"{advice} {_INSTEAD[root]}" if root in _INSTEAD else advice
    if takes_modules:
        return f"{advice} If `{root}` is your own module, add it. {_HOW}"
    return f"{advice} If `{root}` is your own module, paste its code: {_ONE_FILE}."


@cache
def installed_packages() -> tuple[str, ...]:
    """The modules among `_PACKAGES` that a submission can import: the sandbox has the packages of this interpreter."""
    folders = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    return tuple(name for name in _PACKAGES if any((folder / name).is_dir() for folder in folders))


def _installed_version(module: str) -> str | None:
    try:
        return f"Installed here is {module} {version(module)}."
    except PackageNotFoundError:
        return None
