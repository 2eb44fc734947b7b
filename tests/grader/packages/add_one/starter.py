def add_one(x):
    raise NotImplementedError
