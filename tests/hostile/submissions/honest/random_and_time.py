"""expect: accepted. Asks for random numbers, the time and the names of its machine."""

import datetime
import os
import platform
import random
import secrets
import uuid

print(len(secrets.token_bytes(8)), random.random() < 1, uuid.uuid4().version, datetime.datetime.now().year > 2000)
print(len(os.urandom(4)), platform.python_version(), os.cpu_count() > 0)


def add_one(x):
    return x + 1
