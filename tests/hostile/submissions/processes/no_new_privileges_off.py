"""expect: accepted; wall: seccomp. Takes back the promise never to gain privileges, its filter, and the death signal of its parent."""

import ctypes

prctl = ctypes.CDLL(None, use_errno=True).prctl
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 1, 22, 38, 36
for option in (PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS):
    if prctl(option, 0, 0, 0, 0) == 0:
        print("CROSSED: prctl", option)
if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
    print("CROSSED: adopts the children of others")


def add_one(x):
    return x + 1
