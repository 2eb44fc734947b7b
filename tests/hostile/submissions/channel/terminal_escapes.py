"""expect: accepted. Prints what clears a terminal, sets its title and answers for the user."""

print("\x1b[2J\x1b[H\x1b]0;owned\x07\x1b[6n\x9b31m\r\x08\x00 invisible \u202e\u2066 done")


def add_one(x):
    return x + 1
