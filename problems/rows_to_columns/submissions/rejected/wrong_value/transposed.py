"""You transposed the array. Its transpose is split by columns without any communication, but element (i, j) has to stay at
(i, j): only the device changes."""


def rows_to_columns(mesh, x):
    return x.T
