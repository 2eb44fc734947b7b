"""Wrong ways of reading a compiled program. Each docstring tells the student what they misunderstood."""

from math import prod

from questions import facts, truth

OTHER = {"data": "model", "model": "data"}


def exchanges_gather_and_scatter(parameters):
    """You confused all-gather and reduce-scatter. The name of the instruction says which it is, and so do its shapes:
    the result of an all-gather is larger than its operand, and that of a reduce-scatter is smaller."""
    other = {"all-gather": "reduce-scatter", "reduce-scatter": "all-gather"}.get(truth(parameters)["kind"])
    return {"kind": other} if other else {}


def takes_every_sum_for_an_all_reduce(parameters):
    """You answered all-reduce. The result of an all-reduce has the shape of its operand. Here the sum is also split:
    the result is one piece of it, so this is a reduce-scatter."""
    return {"kind": "all-reduce"} if truth(parameters)["kind"] == "reduce-scatter" else {}


def scatters_an_all_reduce(parameters):
    """You answered reduce-scatter. A reduce-scatter leaves each device with one piece of the sum. Here the result has
    the shape of the operand, so every device has the whole sum."""
    return {"kind": "reduce-scatter"} if truth(parameters)["kind"] == "all-reduce" else {}


def names_the_other_axis(parameters):
    """You named the axis along which the groups differ from one another. Look inside one group: the axis of a
    collective is the one whose coordinate changes from device to device of the same group."""
    axes = truth(parameters)["axes"]
    return {"axes": OTHER[axes]} if axes in OTHER else {}


def names_all_axes_of_the_mesh(parameters):
    """You answered that the groups run along both axes. Then there would be one group of all 8 devices. Here there are
    several groups, and no data crosses from one to another."""
    return {"axes": "data and model"} if truth(parameters)["axes"] in OTHER else {}


def looks_along_the_other_axis(parameters):
    """You gave the highest device along the other axis of the mesh. The devices of a group are those in the
    same braces of `replica_groups`, or those that the pairs of a collective-permute connect."""
    axes = truth(parameters)["axes"]
    if axes not in OTHER:
        return {}
    sizes, device = parameters["axes"], parameters["device"]
    row, column = divmod(device, sizes["model"])
    highest = (
        row * sizes["model"] + sizes["model"] - 1 if axes == "data" else (sizes["data"] - 1) * sizes["model"] + column
    )
    return {} if highest == 7 else {"highest": highest}  # 7 is also the last device


def takes_the_last_device_of_the_mesh(parameters):
    """You answered 7, the last device of the mesh. The device in question is in another group: find the braces that
    contain it."""
    return {"highest": 7}


def counts_the_group_members(parameters):
    """You gave the number of devices in the group. The question asks for the highest number among these devices."""
    size = len(facts(parameters)["group"])
    return {} if size == 7 else {"highest": size}


def takes_the_result(parameters):
    """You gave the bytes of the result. The shape on the left of `=` is that of the result. The operand is in the
    parentheses, and its shape is in the line that defines it."""
    return {"operand": facts(parameters)["result"]}


def adds_up_the_operands_of_the_group(parameters):
    """You added up the operands of all devices of the group. The shapes in a compiled program are those of one
    device."""
    found = facts(parameters)
    if found["kind"] == "all-gather":
        return {}  # the same as the result
    return {"operand": found["operand"] * len(found["group"])}


def takes_one_piece_of_an_all_to_all(parameters):
    """You counted one array. Here the operand of the all-to-all is a list of arrays, one for each device of the
    group."""
    found = facts(parameters)
    return {"operand": found["operand"] // len(found["operands"])} if len(found["operands"]) > 1 else {}


def counts_elements(parameters):
    """You counted elements. An element of type f32 has 4 bytes."""
    right = truth(parameters)
    return {"operand": right["operand"] // 4, "sent": right["sent"] / 4}


def executes_it_once(parameters):
    """You answered that it is executed once. It is inside a loop: its computation is the `body` of a `while`, so it
    is executed in every iteration."""
    return {"executions": 1}


def executes_it_in_the_loop(parameters):
    """You gave the number of iterations of the loop. The collective is in the main computation (`ENTRY`), not in the
    body of the `while`, so it is executed once."""
    found = facts(parameters)
    return {} if found["trips"] else {"executions": found["loops"][0]}


def counts_the_inner_loop_only(parameters):
    """You gave the iterations of the inner loop. The whole inner loop runs again in every iteration of the outer loop,
    so multiply the two."""
    trips = facts(parameters)["trips"]
    return {"executions": trips[-1]} if len(trips) > 1 else {}


def counts_the_outer_loop_only(parameters):
    """You gave the iterations of the outer loop. In each of them the inner loop runs, and the collective is in its
    body, so multiply the two."""
    trips = facts(parameters)["trips"]
    return {"executions": trips[0]} if len(trips) > 1 else {}


def adds_the_loops(parameters):
    """You added the iterations of the two loops. The inner loop is in the body of the outer one, so they multiply."""
    trips = facts(parameters)["trips"]
    return {"executions": sum(trips)} if len(trips) > 1 else {}


def counts_one_pass_too_many(parameters):
    """Your number of executions is too high by one. The counter begins at 0 and the condition is LT, less than, so
    the body does not run for the number in the condition."""
    trips = facts(parameters)["trips"]
    return {"executions": trips[0] + 1} if len(trips) == 1 else {}


def sends_in_one_execution(parameters):
    """You gave the bytes of one execution. A step executes the collective several times, and sends as much each
    time."""
    right = truth(parameters)
    return {"sent": right["sent"] // right["executions"]}


def sends_its_own_piece_to_itself(parameters):
    """You counted all pieces. With n devices in a group there are n pieces, but only n - 1 of them leave a device in
    each trip around the ring, or in an all-to-all: one stays where it is."""
    found, right = facts(parameters), truth(parameters)
    size = len(found["group"])
    if found["kind"] == "collective-permute":
        return {}
    return {"sent": right["sent"] // (size - 1) * size}


def sends_only_its_own_shard(parameters):
    """You counted what a device contributes. Around a ring it also passes on the pieces of the others, except for the
    last one that arrives."""
    found, right = facts(parameters), truth(parameters)
    if found["kind"] != "all-gather":
        return {}
    return {"sent": found["operand"] * prod(found["trips"])} if right["sent"] != found["operand"] else {}


def goes_around_once(parameters):
    """You counted one trip around the ring. An all-reduce goes around twice: first to add up the pieces, then to give
    the sums to every device."""
    right = truth(parameters)
    return {"sent": right["sent"] // 2} if right["kind"] == "all-reduce" else {}


def adds_up_all_devices(parameters):
    """You added up what all 8 devices send. The question asks for one device."""
    return {"sent": truth(parameters)["sent"] * 8}
