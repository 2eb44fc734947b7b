"""expect: rejected/error; wall: seccomp. Spreads its work over processes, as a student may in good faith."""

import multiprocessing

if multiprocessing.get_context("fork").Process(target=print, args=("CROSSED",)).start() is None:
    print("CROSSED: started a process")


def add_one(x):
    return x + 1
