"""expect: rejected/missing_entry. Is empty."""


def make():
    return ""
