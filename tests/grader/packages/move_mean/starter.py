def init(mesh, seed):
    raise NotImplementedError


def step(mesh, state, x):
    raise NotImplementedError
