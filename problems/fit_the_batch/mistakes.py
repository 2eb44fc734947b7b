"""Wrong ways to plan a batch. Each docstring tells the student what they misunderstood."""

import math

from questions import FEW, MANY, fixed_of, per_sequence, state_of, truth, usable


def _planned(parameters, largest):
    """The answers that follow from a largest microbatch."""
    per_gpu = parameters["batch"] // parameters["devices"]
    return {"largest": largest} | _cut(per_gpu, largest)


def _cut(batch, largest):
    if largest < 1:
        return {}
    count = next(count for count in range(1, batch + 1) if batch % count == 0 and batch // count <= largest)
    return {"microbatches": count, "size": batch // count, "gathers": 2 * count}


def _fits(parameters, state=None, fixed=None, per=None, memory=None):
    """The largest microbatch, with something else for one of the numbers that it follows from."""
    state = state_of(parameters) if state is None else state
    fixed = fixed_of(parameters) if fixed is None else fixed
    left = (usable(parameters) if memory is None else memory) - state - fixed
    return int(left // (per or per_sequence(parameters)))


def _with_state(parameters, state):
    return {"state": state} | _planned(parameters, _fits(parameters, state=state))


def counts_the_weights_only(parameters):
    """You counted the weights alone. Adam keeps two moments of the same shape for each of them, so the state is three
    times as large."""
    return {"state": state_of(parameters, arrays=1)}


def counts_one_moment(parameters):
    """You counted one moment. Adam keeps two: the mean of the gradients and the mean of their squares."""
    return {"state": state_of(parameters, arrays=2)}


def counts_the_gradients(parameters):
    """You counted the gradients, too. They exist only during a step, so they are temporaries, and are in
    the two numbers of the table already."""
    return {"state": state_of(parameters, arrays=4)}


def does_not_divide_the_state(parameters):
    """You gave the whole state. FSDP splits it over the axis `fsdp`, so a GPU has its share of it."""
    return {"state": state_of(parameters, axes=())}


def divides_the_state_by_all_gpus(parameters):
    """You divided the state by the number of all GPUs. It is split over `fsdp` alone, and copied along `data`."""
    if "data" not in parameters["axes"]:
        return {}
    return {"state": state_of(parameters, axes=tuple(parameters["axes"]))}


def counts_two_bytes_each(parameters):
    """You counted 2 bytes for each number. Everything here is float32, which has 4."""
    return {"state": state_of(parameters, dtype="bfloat16")}


def gives_the_whole_difference(parameters):
    """You gave the difference between the two programs. They differ by several sequences, so divide by their number."""
    per = parameters["temporaries_many"] - parameters["temporaries_few"]
    fixed = parameters["temporaries_few"] - FEW * per
    return {"sequence": per} if fixed < 0 else {"sequence": per, "fixed": fixed}


def divides_all_temporaries(parameters):
    """You divided all temporaries by the sequences of one program. A part of them does not depend on the microbatch,
    and only the difference between the two programs shows what a sequence adds."""
    per = parameters["temporaries_few"] // FEW
    return {"sequence": per, "largest": _fits(parameters, fixed=0, per=per)}


def divides_the_larger_program(parameters):
    """You divided the temporaries of the larger program by its sequences. A part of them does not depend on the
    microbatch, and only the difference between the two programs shows what a sequence adds."""
    per = parameters["temporaries_many"] // MANY
    return {"sequence": per, "largest": _fits(parameters, fixed=0, per=per)}


def takes_the_smaller_program_for_fixed(parameters):
    """You took all temporaries of the smaller program for the fixed part. It has sequences, too: subtract what they
    take."""
    fixed = parameters["temporaries_few"]
    return {"fixed": fixed, "largest": _fits(parameters, fixed=fixed)}


def subtracts_one_sequence(parameters):
    """You subtracted one sequence from the temporaries. The program has as many as its row of the table says."""
    fixed = parameters["temporaries_few"] - per_sequence(parameters)
    return {"fixed": fixed, "largest": _fits(parameters, fixed=fixed)}


def adds_the_state_to_the_fixed_part(parameters):
    """You counted the state among the temporaries. The table has the temporaries alone; the state is an argument of the
    program."""
    return {"fixed": fixed_of(parameters) + state_of(parameters)}


def forgets_the_state(parameters):
    """Your microbatch is too large, because you left out the state. It stays on the GPU during the step."""
    found = {"largest": _fits(parameters, state=0)}
    return {} if found == forgets_the_fixed_part(parameters) else found


def forgets_the_fixed_part(parameters):
    """Your microbatch is too large: you left out the temporaries that do not depend on it, or the state. A GPU needs
    both, whatever the microbatch is."""
    return {"largest": _fits(parameters, fixed=0)}


def uses_all_of_the_memory(parameters):
    """Your microbatch needs more than the share of the memory that JAX may use. The rest is not available to the
    program."""
    return {"largest": _fits(parameters, memory=parameters["memory"] * 10**9)}


def rounds_up(parameters):
    """Your microbatch is too large by one sequence, which does not fit completely. Round down."""
    return {"largest": truth(parameters)["largest"] + 1}


def counts_all_gpus(parameters):
    """You gave the sequences of a microbatch on all GPUs together. The question asks for those on one."""
    return {"largest": truth(parameters)["largest"] * parameters["devices"]}


def rounds_the_number_of_microbatches_up(parameters):
    """You divided and rounded up. That is the least number that could fit, but it does not divide the sequences of a
    GPU evenly, so the microbatches would differ in size. Take the next larger number that does."""
    per_gpu, largest = parameters["batch"] // parameters["devices"], truth(parameters)["largest"]
    count = math.ceil(per_gpu / largest)
    return {"microbatches": count, "size": largest, "gathers": 2 * count}


def cuts_the_batch_of_all_gpus(parameters):
    """You cut the batch as if one GPU had all of it. Each GPU has its own part: divide the batch by the number of GPUs
    first."""
    return _cut(parameters["batch"], truth(parameters)["largest"])


def splits_the_batch_over_data_alone(parameters):
    """You divided the batch by the size of `data` alone. It is split over all axes of the mesh: GPUs along `fsdp` share
    the state, but each has sequences of its own."""
    if "data" not in parameters["axes"]:
        return {}
    return _cut(parameters["batch"] // parameters["axes"]["data"], truth(parameters)["largest"])


def splits_the_batch_over_fsdp_alone(parameters):
    """You divided the batch by the size of `fsdp` alone. It is split over all axes of the mesh, and so over `data`,
    too."""
    if "data" not in parameters["axes"]:
        return {}
    return _cut(parameters["batch"] // parameters["axes"]["fsdp"], truth(parameters)["largest"])


def uses_the_largest_microbatch(parameters):
    """You gave the largest microbatch that fits. It does not divide the sequences of a GPU evenly, so the plan has
    smaller ones."""
    return {"size": truth(parameters)["largest"]}


def gives_the_size_on_all_gpus(parameters):
    """You gave the size of a microbatch on all GPUs together. The question asks for one GPU."""
    return {"size": truth(parameters)["size"] * parameters["devices"]}


def gathers_once_for_each_microbatch(parameters):
    """You counted one gather for each microbatch. With jax.checkpoint, the backward pass computes the layer again, and
    gathers its weights again for that."""
    return {"gathers": truth(parameters)["microbatches"]}


def gathers_once_for_the_step(parameters):
    """You counted the gathers of one microbatch. The weights of a layer are whole only while it is computed, so every
    microbatch gathers them again."""
    return {"gathers": 2}


def gathers_before_the_scan(parameters):
    """You counted one gather. A layer is gathered whenever it is computed: in the forward and in the backward pass of
    each microbatch."""
    return {"gathers": 1}


def gathers_all_layers(parameters):
    """You counted the gathers of all layers. The question asks for the weights of one."""
    return {"gathers": truth(parameters)["gathers"] * parameters["layers"]}


def counts_the_reduction_as_a_gather(parameters):
    """You counted three collectives for each microbatch. The third one reduces the gradients; it gathers no weights."""
    return {"gathers": 3 * truth(parameters)["microbatches"]}
