"""expect: accepted; wall: seccomp. Takes back the promise never to gain privileges, and the death signal of its parent."""

import ctypes

prctl = ctypes.CDLL(None, use_errno=True).prctl
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 38, 39, 22
prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
if prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 or prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
    print("CROSSED: may gain privileges")
if prctl(PR_SET_SECCOMP, 0, 0, 0, 0) == 0:
    print("CROSSED: took its filter away")


def add_one(x):
    return x + 1
