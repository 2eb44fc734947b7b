"""You multiplied by 5, which is not the number in your statement."""
# variants: a


def scale(x):
    return 5 * x
