"""expect: accepted; says: "working on". Prints, logs and warns while it works."""

import logging
import sys
import warnings

logging.basicConfig(level=logging.INFO)


def add_one(x):
    print("working on", x)
    print("to errors, too", file=sys.stderr)
    logging.info("added one")
    warnings.warn("careful", stacklevel=1)
    return x + 1
