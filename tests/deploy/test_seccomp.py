"""What is shipped for containers fits what the sandbox does."""

import json
from pathlib import Path

import pyseccomp
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PROFILE = json.loads((CHECKOUT / "deploy" / "docker-seccomp.json").read_text())
FORBIDDEN = {name for rule in PROFILE["syscalls"] for name in rule["names"]}


def test_the_profile_forbids_and_does_not_allow_by_name():
    assert PROFILE["defaultAction"] == "SCMP_ACT_ALLOW"
    assert {rule["action"] for rule in PROFILE["syscalls"]} == {"SCMP_ACT_ERRNO"}


@pytest.mark.parametrize(
    "name", "unshare mount umount2 pivot_root clone clone3 setns seccomp prctl landlock_restrict_self".split()
)
def test_what_the_sandbox_needs_is_not_forbidden(name):
    assert name not in FORBIDDEN


@pytest.mark.parametrize(
    "name", "ptrace bpf keyctl io_uring_setup userfaultfd kexec_load init_module open_by_handle_at".split()
)
def test_what_nobody_needs_is_forbidden(name):
    assert name in FORBIDDEN


def test_every_name_is_one_that_libseccomp_knows():
    assert [name for name in FORBIDDEN if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) == -1] == []
