"""Wrong ways of reading a mesh and a spec. Each docstring tells the student what they misunderstood."""

from questions import DEVICES, placements, seen, slices, spec_of, truth

WHERE = ("first_row", "last_column")
SHAPE = ("shard_rows", "shard_columns")


def _some(answers, names):
    return {name: answers[name] for name in names}


def _wanted(parameters):
    """The entries of the second placement."""
    right = truth(parameters)["spec"]
    return next(each for each in placements(parameters["axes"]) if spec_of(each) == right)


def numbers_the_mesh_by_columns(parameters):
    """You counted the devices down the columns of the mesh. `reshape` fills a row of the mesh before it begins the next
    one, so the next device number is the neighbour along the last axis."""
    if max(map(len, parameters["entries"])) > 1:
        return {}  # the same as reading the tuple backwards
    return _some(seen(parameters, order="F"), (*WHERE, "highest"))


def gives_an_entry_to_the_other_dimension(parameters):
    """You applied each entry of the spec to the other dimension. The first entry divides the rows, the second the
    columns, and a missing entry is None."""
    return _some(seen(parameters, parameters["entries"][::-1]), (*SHAPE, *WHERE))


def divides_by_all_devices(parameters):
    """You divided a dimension by the number of all devices. It is divided by the sizes of the axes that its own entry
    names, and by nothing else."""
    rows, columns = parameters["entries"]
    return {
        "shard_rows": parameters["rows"] // (DEVICES if rows else 1),
        "shard_columns": parameters["columns"] // (DEVICES if columns else 1),
    }


def uses_every_axis(parameters):
    """You divided the array along an axis that the spec does not name. Such an axis does not divide the array: the
    devices along it hold copies."""
    used = [name for entry in parameters["entries"] for name in entry]
    unused = [name for name in parameters["axes"] if name not in used]
    if not used or not unused:
        return {}
    filled = [entry or unused for entry in parameters["entries"]]
    return _some(seen(parameters, filled), (*SHAPE, "copies"))


def counts_the_different_slices(parameters):
    """You gave the number of different slices. The question asks for the devices that hold the same slice: those that
    differ only along axes that the spec does not name."""
    return {"copies": len(set(slices(parameters, parameters["entries"])))}


def leaves_the_device_out(parameters):
    """You counted only the other devices with this slice. The device itself counts, too, so a slice without a copy is
    on 1 device."""
    return {"copies": seen(parameters)["copies"] - 1}


def looks_along_the_axes_of_the_spec(parameters):
    """You looked for copies along the axes that the spec names. Along these, the slice changes. The copies are along
    the other axes."""
    names, used = list(parameters["axes"]), [name for entry in parameters["entries"] for name in entry]
    unused = [name for name in names if name not in used]
    return {"highest": seen(parameters, [unused, []])["highest"]}


def gives_the_end_of_the_slice(parameters):
    """You gave the end of the slice. In Python a slice ends before its `stop`, so the last column has the number
    `stop - 1`."""
    return {"last_column": seen(parameters)["last_column"] + 1}


def counts_from_one(parameters):
    """You counted rows and columns from 1. As in Python, the first one has the number 0."""
    return {name: seen(parameters)[name] + 1 for name in WHERE}


def reads_a_tuple_backwards(parameters):
    """You read the axes of a tuple in the wrong order. The first axis changes slowest: for `("data", "model")` the
    blocks go to all devices along `model` before the coordinate along `data` increases."""
    return _some(seen(parameters, [each[::-1] for each in parameters["entries"]]), WHERE)


def exchanges_the_axes(parameters):
    """Your spec has the two axes in the wrong order. Compare two devices that differ in only one coordinate: if
    they hold different rows, the first entry names that axis. In a tuple the axis whose neighbours hold neighbouring
    blocks comes last."""
    names = list(parameters["axes"])
    other = dict(zip(names, names[::-1], strict=True))
    return {"spec": spec_of([[other[name] for name in each] for each in _wanted(parameters)])}


def divides_the_other_dimension(parameters):
    """Your spec divides the other dimension. The entries are in the order of the dimensions, so `None` must come
    first if the rows are whole and the columns are divided."""
    entries = _wanted(parameters)
    if all(entries):
        return {}  # the same as exchanging the axes
    return {"spec": spec_of(entries[::-1])}


def splits_a_tuple(parameters):
    """You gave each axis its own dimension. To divide one dimension over both axes, make its entry a tuple and the
    other entry None."""
    both = max(_wanted(parameters), key=len)
    return {"spec": spec_of([[each] for each in both])} if len(both) > 1 else {}
