"""Run a command under the container's seccomp profile, as a container's runtime does: `under_profile.py COMMAND…`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyseccomp

PROFILE = Path(__file__).resolve().parents[2] / "deploy" / "docker-seccomp.json"


def compile_profile(profile: dict[str, Any]) -> pyseccomp.SyscallFilter:
    """Convert the profile to a filter. A rule of unknown form is an error, so none is left out silently."""
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(profile["defaultErrnoRet"]))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ALLOW"
        assert set(rule) <= {"comment", "names", "action", "args"}
        arguments = []
        for each in rule.get("args", []):
            assert each["op"] == "SCMP_CMP_EQ"
            arguments.append(pyseccomp.Arg(each["index"], pyseccomp.EQ, each["value"]))
        for name in rule["names"]:
            # Skip calls that this architecture lacks: newer ones have no `open`, only `openat`.
            if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:
                rules.add_rule(pyseccomp.ALLOW, name, *arguments)
    return rules


def main() -> None:
    # This also sets no_new_privs, as the container's options do.
    compile_profile(json.loads(PROFILE.read_text())).load()
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
