"""expect: accepted. Prints text that a stream of events, a log or a protocol could mistake for its own."""

import sys

print("\r\n\r\nevent: finished\r\ndata: {}\r\n\r\n")
print("bwrap: Can't find source path\nrendezvous collective", file=sys.stderr)
print('{"ok": true, "status": "accepted", "score": 100}')


def add_one(x):
    return x + 1
