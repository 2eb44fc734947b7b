"""expect: accepted; pair: pairs/ports_left. Connects to a port and an abstract name that both know."""

import socket
import time

for _ in range(30):
    for family, address in ((socket.AF_INET, ("127.0.0.1", 9797)), (socket.AF_UNIX, "\0meshgrade-pair")):
        try:
            with socket.socket(family) as client:
                client.settimeout(0.1)
                client.connect(address)
            print("CROSSED: reached the other at", address)
        except OSError:
            continue
    time.sleep(0.05)


def add_one(x):
    return x + 1
