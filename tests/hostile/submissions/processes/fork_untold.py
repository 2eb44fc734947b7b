"""expect: rejected/error; wall: seccomp; says: "must not start or signal processes". Forks without a thought of failure: the message has to say what is not permitted."""

import os

if os.fork() == 0:
    os._exit(0)


def add_one(x):
    return x + 1
