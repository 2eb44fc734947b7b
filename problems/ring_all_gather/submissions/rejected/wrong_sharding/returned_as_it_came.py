"""The array is still split: each device has one block. Every device has to have all of them."""


def ring_all_gather(mesh, x):
    return x
