"""Wrong ways to read a schedule and to count traces. Each docstring tells the student what they misunderstood."""

from questions import DEVICES, EXPOSED, bubble, facts, truth


def _exposed(of_the_first, of_the_second):
    return {"exposed": EXPOSED[of_the_first, of_the_second]}


def _hidden(parameters):
    """Whether products run during the first and during the second collective."""
    return [bool(each["products"]) for each in facts(parameters["program"])["collectives"]]


def names_the_hidden_ones(parameters):
    """You named the collectives that are hidden. A collective is exposed if no product is between its start and its
    done: the GPU has nothing to compute while it waits."""
    return _exposed(*_hidden(parameters))


def counts_any_instruction_as_work(parameters):
    """You took any instruction between start and done for work that hides a collective. A get-tuple-element or a
    bitcast only renames an array, and a fusion of small operations is over at once. Only a product takes as long as a
    collective."""
    return _exposed(*(not each["lines"] for each in facts(parameters["program"])["collectives"]))


def hides_a_collective_behind_its_own_product(parameters):
    """You counted the product that uses the result of a collective. It comes after the done, so the collective cannot
    overlap with it."""
    products = sum(facts(parameters["program"])["products"])
    return {} if products == truth(parameters)["flops"] else _exposed(False, False) | {"flops": products}


def exposes_everything(parameters):
    """You answered that both are exposed. Look at the lines between each start and its done: at least one of
    the two has a product there."""
    return _exposed(True, True) | {"flops": 0}


def takes_all_products(parameters):
    """You added up all products of an iteration. Only those between a start and its done run while the collective is
    in flight."""
    if all(_hidden(parameters)):
        return {}
    return {"flops": sum(facts(parameters["program"])["products"])}


def forgets_the_additions(parameters):
    """You counted one operation for each pair of numbers. A product of matrices multiplies and adds, so m by k times
    k by n takes 2 * m * k * n FLOPs."""
    return {"flops": truth(parameters)["flops"] // 2}


def takes_one_product(parameters):
    """You counted one of the products. More than one is between a start and its done, so add up all of them."""
    found = facts(parameters["program"])["collectives"]
    products = [each for collective in found for each in collective["products"]]
    return {} if len(set(products)) < 2 else {"flops": products[0]}


def multiplies_by_the_iterations(parameters):
    """You gave the FLOPs of all iterations together. The question asks for one iteration."""
    right = truth(parameters)
    return {"flops": right["flops"] * right["iterations"]}


def counts_the_microbatches(parameters):
    """You gave the number of microbatches. The loop runs longer, until the last microbatch has left the last stage.
    The condition compares its counter with the number of iterations."""
    return {"iterations": facts(parameters["program"])["microbatches"]}


def counts_one_iteration_too_many(parameters):
    """Your number of iterations is too high by one. The counter begins at 0 and the condition is LT, less than, so
    the body does not run for the number in the condition."""
    return {"iterations": truth(parameters)["iterations"] + 1}


def passes_on_at_once(parameters):
    """You assumed that a stage gets its input one iteration after the stage before it has computed it. In this
    program it takes two, because a result is sent in the next iteration. So the loop has more iterations than
    microbatches + stages - 1."""
    found = facts(parameters["program"])
    if found["hop"] == 1:
        return {}
    stages, microbatches = found["stages"], found["microbatches"]
    return {
        "iterations": microbatches + stages - 1,
        "bubble": bubble(stages, microbatches, 1),
        "bubble_twice": bubble(stages, 2 * microbatches, 1),
    }


def divides_by_the_useful_iterations(parameters):
    """You divided the idle iterations by the number of microbatches. The bubble is their share of all iterations."""
    found, right = facts(parameters["program"]), truth(parameters)
    idle = right["iterations"] - found["microbatches"]
    return {
        "bubble": 100 * idle / found["microbatches"],
        "bubble_twice": 100 * idle / (2 * found["microbatches"]),
    }


def gives_the_useful_share(parameters):
    """You gave the share of the iterations in which a stage has a microbatch. The bubble is the rest."""
    right = truth(parameters)
    return {name: 100 - right[name] for name in ("bubble", "bubble_twice")}


def gives_a_fraction(parameters):
    """You gave a fraction. The answer is in percent, so multiply it by 100."""
    right = truth(parameters)
    return {name: right[name] / 100 for name in ("bubble", "bubble_twice")}


def takes_each_device_for_a_stage(parameters):
    """You took each of the 8 devices for a stage. The pairs of the collective-permute form several rings, and each
    ring is one pipeline: count the devices of one ring."""
    found = facts(parameters["program"])
    return {
        name: bubble(DEVICES, times * found["microbatches"], found["hop"])
        for name, times in (("bubble", 1), ("bubble_twice", 2))
    }


def halves_the_bubble(parameters):
    """You halved the share. With twice as many microbatches the idle iterations stay as many, but all iterations
    together are less than twice as many."""
    return {"bubble_twice": truth(parameters)["bubble"] / 2}


def doubles_the_iterations(parameters):
    """You answered that the share stays as it is. The pipeline is filled and emptied once, however many microbatches
    there are, so only the useful iterations double."""
    return {"bubble_twice": truth(parameters)["bubble"]}


def _traced(calls):
    """The answers of a student for whom calls that are equal here share a program."""
    calls = list(calls)
    new = [number for number, each in enumerate(calls, 1) if each not in calls[: number - 1]]
    return {"traces": len(new), "last_trace": new[-1]}


def _unless_simpler(parameters, found):
    """Nothing if a simpler misunderstanding gives the same answers."""
    return {} if found in (traces_for_each_call(parameters), compares_with_the_first_call_only(parameters)) else found


def traces_for_each_call(parameters):
    """You answered that every call is traced. jit stores the program of a call, and a later call runs it again if its
    arguments have the same structure, shapes, dtypes and static values. Other numbers in an array do not matter."""
    return {"traces": len(parameters["calls"]), "last_trace": len(parameters["calls"])}


def looks_at_shapes_and_dtypes_only(parameters):
    """You looked at shapes and dtypes only. The key of a program also has the sharding of each array, whether its
    type is weak, and every static value."""
    found = _traced((params, x if "shape" in x or "dtype" in x else "") for params, x, _, _ in parameters["notes"])
    return {} if found["traces"] == truth(parameters)["traces"] - 1 else found


def compares_with_the_first_call_only(parameters):
    """You counted every call that differs from the first one. A program that any earlier call has compiled is used
    again, too."""
    different = [any(each) for each in parameters["notes"]]
    last = max(number for number, each in enumerate(different, 1) if each)
    return {"traces": 1 + sum(different), "last_trace": last}


def leaves_out_the_first_call(parameters):
    """You counted the calls that are traced again. The first call is traced, too."""
    return {"traces": truth(parameters)["traces"] - 1}


def traces_the_order_of_a_dict(parameters):
    """You counted a dict with its keys in another order as a change. JAX sorts the keys of a dict, so it is the same
    tree."""
    pairs = zip(parameters["notes"], parameters["calls"], strict=True)
    return _unless_simpler(parameters, _traced((*own, '{"b"' in call) for own, call in pairs))


def traces_numpy_arrays(parameters):
    """You counted a NumPy array as a change. It has the shape and the dtype of the JAX array, and that is all that
    the trace depends on."""
    pairs = zip(parameters["notes"], parameters["calls"], strict=True)
    return _unless_simpler(parameters, _traced((*own, "np.asarray" in call) for own, call in pairs))
