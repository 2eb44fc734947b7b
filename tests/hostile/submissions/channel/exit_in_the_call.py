"""expect: rejected/killed; says: "ended itself". Ends the process with success when it is called."""

import os


def add_one(x):
    os._exit(0)
