"""expect: accepted; wall: seccomp. Finds the other processes of its namespace by asking for each number."""

import os

NOBODY = 0x3FFFFF
questions = {
    "kill": lambda pid: os.kill(pid, 0),
    "getpgid": os.getpgid,
    "getsid": os.getsid,
    "getpriority": lambda pid: os.getpriority(os.PRIO_PROCESS, pid),
    "sched_getscheduler": os.sched_getscheduler,
    "sched_getaffinity": os.sched_getaffinity,
    "sched_getparam": os.sched_getparam,
}


def answer(question, pid):
    try:
        question(pid)
    except OSError as error:
        return error.errno
    return 0


for name, question in questions.items():
    if any(answer(question, pid) != answer(question, NOBODY) for pid in range(1, 64) if pid != os.getpid()):
        print("CROSSED: sees other processes by", name)


def add_one(x):
    return x + 1
