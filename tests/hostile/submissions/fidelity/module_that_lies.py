"""expect: rejected/missing_entry. Replaces its module with another object."""

import sys
import types


class Module(types.ModuleType):
    def add_one(self, x):
        return x + 1


sys.modules["submission"] = Module("submission")
sys.modules["__main__"] = Module("__main__")
globals().pop("add_one", None)
