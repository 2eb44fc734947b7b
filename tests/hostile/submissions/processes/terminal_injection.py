"""expect: accepted; says: "stopped". Types commands into the terminal from which the grader was started."""

import fcntl
import os
import termios

for descriptor in (0, 1, 2):
    try:
        fcntl.ioctl(descriptor, termios.TIOCSTI, b"x")
        print("CROSSED: typed into a terminal")
    except OSError:
        print("stopped")
try:
    os.open("/dev/tty", os.O_RDWR)
    print("CROSSED: has a terminal")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
