"""expect: rejected/killed; says: "exit code 0". Ends the process with success before it can be judged."""

import os

os._exit(0)


def add_one(x):
    return x + 1
