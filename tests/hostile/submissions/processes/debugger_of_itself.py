"""expect: accepted. Puts a tracer on the runner from within: a trace function, an audit hook, a profile of every thread."""

import sys
import threading

seen = set()


def look(frame, event, argument):
    for name, value in frame.f_locals.items():
        if name in ("expected", "reference", "secret", "answers"):
            seen.add(name)
    return look


sys.settrace(look)
threading.setprofile(look)
sys.addaudithook(lambda event, arguments: None)


def add_one(x):
    if seen:
        print("CROSSED: found", seen)
    return x + 1
