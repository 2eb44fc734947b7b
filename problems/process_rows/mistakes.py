"""Wrong ways to find the rows of a process. Each docstring tells the student what they misunderstood."""

from questions import rows_of_devices, rows_of_processes, runs, truth


def _mine(parameters, name, **changes):
    """The rows of the process in one of the placements, after changes to it."""
    return rows_of_processes(parameters, parameters[name] | changes)[parameters["process"]]


def _of_the_second(rows):
    first, last = runs(rows)[0]
    return {"two_first": first, "two_run": last + 1 - first, "two_last": max(rows)}


def _own_devices(parameters, name):
    first = parameters["process"] * parameters["devices"]
    return rows_of_devices(parameters, parameters[name])[first : first + parameters["devices"]]


def takes_the_share_of_its_number(parameters):
    """You gave each process an equal share of the rows, in the order of the processes. The spec decides which rows
    its devices hold, and the numbers of the processes do not occur in it."""
    # In the second mesh, this gives the answers of someone who takes the axes in another order, which says more.
    return {"three_rows": parameters["share"]}


def takes_the_device_of_its_number(parameters):
    """You took the device that has the number of the process. Each process has several devices, and device numbers
    count through all of them."""
    number = parameters["process"]
    one, two, three = (rows_of_devices(parameters, parameters[name])[number] for name in ("one", "two", "three"))
    return {"one_first": min(one), **_of_the_second(two), "three_rows": len(three)}


def stops_after_its_first_device(parameters):
    """You counted the rows of a single device of the process. The process loads what all of its devices hold."""
    first, three = _own_devices(parameters, "two")[0], _own_devices(parameters, "three")[0]
    return {"two_last": max(first), "three_rows": len(three)}


def reads_the_tuple_backwards(parameters):
    """You read the axes of the spec in the order of the mesh. The order in the tuple counts: its first axis changes
    slowest, and its last one fastest."""
    if parameters["two"]["by_columns"]:
        return {}  # the same as numbering this mesh along its last axis
    return _of_the_second(_mine(parameters, "two", split=parameters["two"]["split"][::-1]))


def numbers_the_mesh_in_order(parameters):
    """You numbered the devices of the second mesh along its last axis. This mesh is transposed, so neighbours along
    the first axis have successive numbers: look at mesh.devices."""
    if not parameters["two"]["by_columns"]:
        return {}
    return _of_the_second(_mine(parameters, "two", by_columns=False))


def takes_both_for_one_run(parameters):
    """You counted all rows of the process. They are not all next to each other: after the first run comes a gap, in
    which the rows belong to other processes."""
    return {"two_run": len(_mine(parameters, "two"))}


def gives_the_end_of_the_slice(parameters):
    """You gave the end of the slice. In Python a slice ends before its `stop`, so the last row is `stop - 1`."""
    return {"two_last": truth(parameters)["two_last"] + 1}


def counts_from_one(parameters):
    """You counted rows from 1. As in Python, the first one has the number 0."""
    right = truth(parameters)
    return {name: right[name] + 1 for name in ("one_first", "two_first", "two_last")}


def adds_up_its_devices(parameters):
    """You added up the rows of all devices of the process. Some of them hold the same rows, and a process loads
    each row once."""
    return {"three_rows": sum(map(len, _own_devices(parameters, "three")))}


def counts_devices(parameters):
    """You counted devices. The question asks how many processes load the same rows."""
    held = rows_of_devices(parameters, parameters["three"])
    own = held[parameters["process"] * parameters["devices"]]
    return {"three_same": sum(each == own for each in held)}


def leaves_the_process_out(parameters):
    """You counted only the other processes that load these rows. The process itself counts, too."""
    return {"three_same": truth(parameters)["three_same"] - 1}


def loads_each_row_once(parameters):
    """You counted each row of the batch once. A row is loaded by every process that has it on one of its
    devices."""
    return {"three_total": parameters["rows"]}


def loads_for_each_device(parameters):
    """You added up the rows of all devices. A process loads a row once, even if several of its devices hold it."""
    return {"three_total": sum(map(len, rows_of_devices(parameters, parameters["three"])))}


def guesses_the_batch(parameters):
    """You answered that the array has all rows of the batch. Without global_shape, JAX takes processes that hold
    the same rows to have passed the same data, so their rows count once. The array is shorter, and the rows of all
    but one of them are lost."""
    return {"guessed": parameters["rows"]}


def guesses_what_one_process_passes(parameters):
    """You gave the rows that one process passes. The array is global: it has the rows of all processes that hold
    different ones."""
    return {"guessed": parameters["share"]}
