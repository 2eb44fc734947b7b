"""What each reason of a rejected verdict means, in words a student can act on."""

from dataclasses import dataclass

from grader.reasons import Reason
from grader.verdict import Trust


@dataclass(frozen=True, slots=True)
class Explanation:
    """`name` is a headline, `sentence` says what happened, `advice` (on /help/reasons) where to look."""

    name: str
    sentence: str
    advice: str


REASONS: dict[Reason, Explanation] = {
    "syntax_error": Explanation(
        "Syntax error",
        "Python could not read the file, so none of it ran.",
        "The first check names line and column. Often the fault is just before that place: a bracket or a "
        "quote that was never closed.",
    ),
    "missing_entry": Explanation(
        "Entry point missing",
        "The file ran, but it does not define the function that the problem asks for.",
        "Compare the name with the starter's, letter by letter, and define the function at the top level of "
        "the file, with the arguments that the statement lists.",
    ),
    "error": Explanation(
        "Error",
        "Your code raised an exception; the last line of the traceback says which.",
        "Read the traceback from its end: the last line of your own file in it is where to look. Of a hidden "
        "case only the kind of exception is told.",
    ),
    "wrong_value": Explanation(
        "Wrong value",
        "Shape and dtype are right, but the numbers are outside the tolerance.",
        "A constant factor, such as the number of devices, points at a sum where a mean was asked for, or the "
        "other way round. Right on one device and wrong on several points at a missing or a doubled reduction "
        "over a mesh axis. Right in the first step only points at the state: what did not come back, or came "
        "back stale?",
    ),
    "wrong_shape": Explanation(
        "Wrong shape",
        "The array that came back does not have the shape the problem states.",
        "Shapes are those of whole arrays, not of the shard that one device holds. Inside of shard_map every "
        "array is a shard; out_specs says how shards make up the whole.",
    ),
    "wrong_dtype": Explanation(
        "Wrong dtype",
        "The array that came back has another element type than the reference.",
        "Look for an astype that was left out or is one too many, and for NumPy arrays, which are float64 "
        "until JAX takes them.",
    ),
    "wrong_structure": Explanation(
        "Wrong structure",
        "What came back, or the way it was computed, is not built as the problem states.",
        "The statement lists what comes back: the order of a tuple, and of a state the path, shape and dtype "
        "of every leaf. The state that a step returns must be built like the one it took. A problem may also "
        "ask for a construct by name, such as shard_map.",
    ),
    "wrong_sharding": Explanation(
        "Wrong sharding",
        "The numbers are right, but an array lives on the wrong devices.",
        "The drawing shows, device by device, which part of a leaf it should hold and which it holds. A leaf "
        "that is whole on every device was never split: a missing with_sharding_constraint, or an out_specs "
        "of P(). If it is split over another dim than expected, the entries of its PartitionSpec are in "
        "another order. If it goes in right and comes out wrong, the compiler chose: pin what the step "
        "returns.",
    ),
    "wrong_communication": Explanation(
        "Wrong communication",
        "The numbers are right, but the devices exchange more than, or not what, they should.",
        "Compare the two columns of the table. An all-gather that only you have means that something split "
        "was made whole: find the first operation that needs all of it. An all-reduce in place of a reduce- "
        "scatter computes a whole sum everywhere and then throws most of it away. The right collective with "
        "too many bytes is in a loop that it could stand before, or moves activations where weights were "
        "meant, or the other way round. If the batch was gathered, an input lost its sharding on the way.",
    ),
    "too_much_memory": Explanation(
        "Too much memory per device",
        "The compiled program holds more bytes on a device than the problem allows.",
        "Too many argument or output bytes: a leaf of the state is whole where it should be split; the bar "
        "called replicated shows what no splitting at all would take. Too many temporary bytes: something "
        "large lives at once with all the rest. Gather one layer at a time, recompute with jax.checkpoint "
        "what the backward pass need not keep, or let a scan take turns.",
    ),
    "too_much_compute": Explanation(
        "Too much compute per device",
        "The compiled program does work on each device that should have been divided.",
        "Operations of matrix products on one device are counted, loops included. As many as without a mesh "
        "means that every device computes everything: the operands of a product were not split, or were "
        "gathered before it. A little more than the reference is often work done twice, such as a forward "
        "pass that is run again where nothing asked for it.",
    ),
    "not_donated": Explanation(
        "State not donated",
        "The old state is kept alive beside the new one, which doubles its memory.",
        "The grader donates every leaf of the state to the step. A buffer can be reused only for an output of "
        "the same shape, dtype and sharding, so a leaf that comes back with another one keeps both alive. "
        "Look for leaves that change from one side of the step to the other.",
    ),
    "retraced": Explanation(
        "Traced again",
        "The function was compiled more often than its shapes call for.",
        "The second step was called with what the first returned, and JAX traced it anew. Something about the "
        "state changed that is part of its type: a dtype, a weak type (a Python number among the leaves), a "
        "sharding, the structure. Make what the step returns exactly like what it took.",
    ),
    "not_exportable": Explanation(
        "Not exportable",
        "The program calls back into Python or uses a custom call, so it cannot be checked.",
        "The step is traced with shapes only and compiled elsewhere, so it must be a pure function of its "
        "arguments. Take out jax.debug.print, pure_callback and io_callback. An if, a float() or a NumPy "
        "function on a traced value needs a number that is not there yet: use jnp.where, lax.cond and jnp "
        "instead.",
    ),
    "divergent_collective": Explanation(
        "Devices diverged",
        "Some devices reached a collective that the others never joined, so all waited forever.",
        "Every device of a group has to reach the same collectives in the same order. Look for a psum, "
        "all_gather or ppermute in one branch of a lax.cond, or in a while_loop whose number of turns differs "
        "between devices, and move it out: let all take part, and select afterwards.",
    ),
    "time_limit": Explanation(
        "Time limit",
        "The submission was stopped: it ran longer than the problem allows.",
        "Look for a Python loop over elements, devices or layers that jnp, vmap or lax.scan can do at once, "
        "and for a function that is jitted anew in each turn.",
    ),
    "memory_limit": Explanation(
        "Memory limit",
        "The submission was stopped: it used more memory than the problem allows.",
        "Devices share the memory of one machine here, so what is replicated counts once for each device. "
        "Look for arrays of the full size that a shard would do for.",
    ),
    "output_limit": Explanation(
        "Output limit",
        "The submission wrote or returned more bytes than the problem allows.",
        "Return what the statement asks for and nothing else, and take out prints of whole arrays.",
    ),
    "killed": Explanation(
        "Ended early",
        "The process ended before it answered: it called exit, crashed, or did what the sandbox forbids.",
        "Look for exit, quit or os.abort. New processes, sockets and files are not there in the sandbox; a "
        "submission needs none of them.",
    ),
}

TRUST: dict[Trust, str] = {
    "verified": "Read outside of your code's process, from the arrays or the program that it returned.",
    "observed": "Seen beside your code while it ran. It teaches, and counts for points, but never feeds a ranking.",
}
