"""expect: rejected/time_limit. Catches whatever is raised in it and goes on."""

while True:
    try:
        while True:
            pass
    except BaseException:
        continue


def add_one(x):
    return x + 1
