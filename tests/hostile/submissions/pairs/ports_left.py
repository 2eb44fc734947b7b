"""expect: accepted; pair: pairs/ports_right. Listens on a port and an abstract name that both know."""

import socket
import time

kept = []
for family, address in ((socket.AF_INET, ("127.0.0.1", 9797)), (socket.AF_UNIX, "\0meshgrade-pair")):
    try:
        server = socket.socket(family)
        server.bind(address)
        server.listen()
        kept.append(server)
    except OSError:
        print("stopped")
time.sleep(1.5)


def add_one(x):
    return x + 1
