"""The seccomp profile of a grading container: an allow-list with which everything in it runs.

A test has no container. It compiles the profile into the same kind of filter, and installs it before it runs the
command.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pyseccomp

from grader.sandbox.syscalls import _ALLOWED
from grader.sandbox.walls import wall_names
from tests.deploy.under_profile import PROFILE
from tests.faults import for_each

CHECKOUT = Path(__file__).resolve().parents[2]
RULES = json.loads(PROFILE.read_text())
ALLOWED = {name for rule in RULES["syscalls"] for name in rule["names"]}
FORBIDDEN = """
    acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsopen
    init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl
    lookup_dcookie mbind memfd_secret migrate_pages modify_ldt mount_setattr move_mount move_pages
    name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open personality pidfd_getfd
    process_madvise process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key setns
    settimeofday swapoff swapon syslog uselib userfaultfd vhangup vmsplice
""".split()


def under_profile(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    wrapped = [sys.executable, str(CHECKOUT / "tests" / "deploy" / "under_profile.py"), *command]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        wrapped, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=300, **options
    )


def test_what_is_not_on_the_list_is_answered_as_if_the_kernel_did_not_know_it():
    assert (RULES["defaultAction"], RULES["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 38)
    assert {rule["action"] for rule in RULES["syscalls"]} == {"SCMP_ACT_ALLOW"}


def test_every_name_is_one_that_libseccomp_knows_and_stands_there_once():
    assert [name for name in ALLOWED if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) == -1] == []
    names = [name for rule in RULES["syscalls"] if "args" not in rule for name in rule["names"]]
    assert len(names) == len(set(names))


@for_each("name", FORBIDDEN)
def test_what_nobody_needs_is_not_on_it(name):
    assert name not in ALLOWED


def test_what_a_submission_may_call_is_on_it():
    assert set(_ALLOWED) - ALLOWED == set()


def test_the_kernel_refuses_what_is_not_on_it_and_sockets_of_other_families():
    calls = ["ptrace", "keyctl", "bpf", "userfaultfd", "io_uring_setup", "setns"]
    numbers = [pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) for name in calls]
    program = f"""
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
for number in {numbers}:
    assert libc.syscall(number, 0, 0, 0, 0) == -1
    print(errno.errorcode[ctypes.get_errno()])
for family in (socket.AF_ALG, socket.AF_VSOCK, socket.AF_PACKET):
    try:
        socket.socket(family, socket.SOCK_DGRAM)
    except OSError as error:
        print(errno.errorcode[error.errno])
socket.socket(socket.AF_INET6).close()
"""
    done = under_profile(sys.executable, "-c", program)
    assert (done.returncode, done.stdout.split()) == (0, ["ENOSYS"] * 9), done.stderr


def test_a_user_without_root_makes_the_namespaces_of_a_sandbox():
    flags = (
        "--unshare-user --uid 61000 --gid 61000 --unshare-pid --unshare-net --unshare-ipc --unshare-uts --new-session"
    )
    command = [
        shutil.which("bwrap"),
        *flags.split(),
        "--die-with-parent",
        "--hostname",
        "sandbox",
        "--ro-bind",
        "/",
        "/",
    ]
    give_up = [shutil.which("setpriv"), "--reuid", "10001", "--regid", "10001", "--clear-groups"]
    drop = give_up if os.geteuid() == 0 else []
    done = under_profile(*drop, *command, "--dev", "/dev", "--chdir", "/", shutil.which("true"))
    assert done.returncode == 0, done.stderr


def test_every_wall_stands_and_a_program_is_graded_under_it():
    done = under_profile(sys.executable, "-m", "app.entry.cli", "doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [wall["name"] for wall in found["walls"] if wall["up"]] == wall_names()
    assert found["trial"]["graded"] is True


def test_the_service_answers_under_it(tmp_path):
    command = [sys.executable, str(CHECKOUT / "tests" / "deploy" / "under_profile.py"), sys.executable]
    command += [
        str(CHECKOUT / "tests" / "app" / "entry" / "cli" / "serve_null.py"),
        "serve",
        "--port",
        "0",
        "--data",
        str(tmp_path),
    ]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "MESHGRADE_API_PROCESSES": "1"}
    process = subprocess.Popen(command, env=environment, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = ""
        while "Sign in" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        address = re.search(r"http://[^\s/]+", said)[0]
        assert httpx.get(f"{address}/healthz", timeout=60).json() == {"status": "ok"}
        assert "fsdp_step" in httpx.get(f"{address}/problems", timeout=60).text
    finally:
        process.terminate()
        assert process.wait(60) == 0
