"""expect: rejected/wrong_structure; says: "return". Returns nothing."""


def add_one(x):
    x + 1
