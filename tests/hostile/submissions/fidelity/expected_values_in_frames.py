"""expect: accepted. Walks up the frames that called it and looks for inputs of other cases, answers and keys."""

import sys


def add_one(x):
    frame = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if name in ("expected", "answers", "reference", "secret", "key", "cases", "prepared"):
                print("CROSSED: found", name, "in", frame.f_code.co_name)
        frame = frame.f_back
    return x + 1
