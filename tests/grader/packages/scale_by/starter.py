AXIS = "{{ axis }}"


def scale(x):
    """Multiply `x`, float32[{{ width }}]."""
    raise NotImplementedError
