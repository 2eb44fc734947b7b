"""expect: rejected. Reports success and omits the result."""

import sys

wire = sys.modules["grader.core.wire"]
pack = wire.pack
wire.pack = lambda message, values=None, **options: pack(message, {}, **options)


def add_one(x):
    return x + 1
