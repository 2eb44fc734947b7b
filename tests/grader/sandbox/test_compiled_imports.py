"""The imports of a zygote are compiled once, and the compiled files reveal nothing about the host."""

import marshal
import sys
from pathlib import Path
from types import CodeType

from grader.sandbox import compiled_imports


def test_compiled_packages_name_the_path_inside():
    packages = Path(sys.prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    compiled = packages / "optax" / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc"
    compiled.unlink(missing_ok=True)
    assert compiled_imports.main() == 0
    # 16 bytes of magic number, flags, and what its source was like: https://peps.python.org/pep-0552/
    code = marshal.loads(compiled.read_bytes()[16:])
    assert isinstance(code, CodeType)
    assert code.co_filename.startswith("/opt/meshgrade/venv/lib/")
