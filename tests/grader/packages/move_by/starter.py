RATE = {{rate}}  # noqa: F821
WIDTH = {{width}}  # noqa: F821


def init(mesh, seed):
    raise NotImplementedError


def step(mesh, state, x):
    raise NotImplementedError
