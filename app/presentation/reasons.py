"""Explains each reason of a rejected verdict, and what a student can do about it."""

from dataclasses import dataclass

from app.core.web.templating import add_filter
from grader.core.reasons import Reason
from grader.verdicts.verdict import Trust


@dataclass(frozen=True, slots=True)
class Explanation:
    """`name` is a headline, `sentence` says what happened, and `advice` (on /help/reasons) where to look."""

    name: str
    sentence: str
    advice: str


REASONS: dict[Reason, Explanation] = {
    "syntax_error": Explanation(
        "Syntax error",
        "Python could not parse the file, so none of it ran.",
        "The first check names the line and column. Often the fault is just before that place: a bracket or a "
        "quote that was never closed.",
    ),
    "missing_entry": Explanation(
        "Entry point missing",
        "The file ran, but it does not define the function that the problem requires.",
        "Compare the name with the starter's, letter by letter. Define the function at the top level of "
        "the file, with the arguments that the statement lists.",
    ),
    "error": Explanation(
        "Error",
        "Your code raised an exception, which the last line of the traceback names.",
        "Read the traceback from the end, and look at the last line of your own file in it. For a hidden "
        "case, only the kind of exception is shown.",
    ),
    "wrong_value": Explanation(
        "Wrong value",
        "The shape and dtype are correct, but the numbers are outside the tolerance.",
        "If the numbers are off by a constant factor, such as the number of devices, you probably computed a "
        "sum instead of a mean, or the reverse. If they are correct on one device but wrong on several, a "
        "reduction over a mesh axis is missing or happens twice. If only the first step is correct, look at "
        "the state that your step returns: a leaf may be missing or stale.",
    ),
    "wrong_shape": Explanation(
        "Wrong shape",
        "An array that you returned does not have the shape that the problem requires.",
        "Shapes are those of whole arrays, not of one device's shard. Inside shard_map, every array is a "
        "shard, and out_specs says how the shards make up the whole array.",
    ),
    "wrong_dtype": Explanation(
        "Wrong dtype",
        "An array that you returned has a different dtype than the reference's.",
        "Look for a missing or unnecessary astype, and for NumPy arrays, which are float64 until JAX converts them.",
    ),
    "wrong_structure": Explanation(
        "Wrong structure",
        "The structure of what you returned, or the way you computed it, differs from what the problem requires.",
        "The statement lists what to return: the order of a tuple, and the path, shape and dtype of every "
        "leaf of a state. A step must return a state with the same structure as its input. A problem may also "
        "require a specific construct, such as shard_map.",
    ),
    "lost_precision": Explanation(
        "Lost precision",
        "The numbers are within the tolerance, but your program rounds a leaf of the state on its way to the new "
        "state.",
        "Look for an astype to a narrower dtype, such as bfloat16, between the leaf that your step receives and the "
        "one that it returns. Compute with a rounded copy where the problem asks for it, and update the leaf itself.",
    ),
    "wrong_sharding": Explanation(
        "Wrong sharding",
        "The numbers are correct, but an array is on the wrong devices.",
        "The drawing shows which part of a leaf each device should have, and which part it has. If a leaf "
        "is whole on every device, it was never split: look for a missing with_sharding_constraint, or "
        "out_specs=P(). If it is split over the wrong dimension, the entries of its PartitionSpec are in the "
        "wrong order. If it is right in the input and wrong in the output, the compiler chose its sharding: constrain "
        "what "
        "the step returns.",
    ),
    "wrong_communication": Explanation(
        "Wrong communication",
        "The numbers are correct, but the devices exchange too much, or the wrong data.",
        "Compare the two columns of the table. If only you have an all-gather, something split was made "
        "whole: find the first operation that needs all of it. An all-reduce instead of a reduce-scatter "
        "computes the whole sum on every device and then discards most of it. If the collective is right but "
        "sends too many bytes, it may be inside a loop where it should be before it, or it may move "
        "activations instead of weights, or the reverse. If the batch was gathered, an input lost its sharding "
        "on the way.",
    ),
    "too_much_memory": Explanation(
        "Too much memory per device",
        "The compiled program needs more bytes on a device than the problem allows.",
        "If there are too many argument or output bytes, a leaf of the state is whole where it should be "
        "split. The bar called replicated shows how much it would be if nothing were split. If there are too "
        "many temporary bytes, too many large arrays are alive at the same time. Gather one layer at a time, "
        "use jax.checkpoint to recompute what the backward pass need not store, or process the layers in a scan.",
    ),
    "too_much_compute": Explanation(
        "Too much compute per device",
        "Each device does work that should have been divided between devices.",
        "The check counts the operations of matrix products on one device, including loops. If there are as many as "
        "without a mesh, every device computes the whole product: the operands of a product were not split, "
        "or were gathered before it. If there are slightly more than in the reference, some work is often "
        "done twice, such as a forward pass that is recomputed without need.",
    ),
    "program_too_large": Explanation(
        "Program too large",
        "The compiled program repeats code that a loop should contain once.",
        "The check counts the matrix products that are written in the compiled program, and counts the body of a loop "
        "once. A Python loop runs while the function is traced, so each of its rounds becomes a part of the program: "
        "twice as many layers take twice as long to compile. jax.lax.scan, nnx.scan and jax.lax.fori_loop stay loops.",
    ),
    "not_donated": Explanation(
        "State not donated",
        "The old state stays alive next to the new one, which doubles the memory for it.",
        "The grader donates every leaf of the state to the step. A buffer can be reused only for an output of "
        "the same shape, dtype and sharding, so a leaf that comes back with a different one keeps both alive. "
        "Look for leaves that change any of these between input and output.",
    ),
    "retraced": Explanation(
        "Traced again",
        "JAX traced and compiled the function more often than its shapes require.",
        "The second step was called with the state that the first one returned, and JAX traced it again. "
        "Something that is part of the state's type changed: a dtype, a weak type (from a Python number among "
        "the leaves), a sharding, or the structure. Return a state of exactly the same type as the input.",
    ),
    "not_exportable": Explanation(
        "Not exportable",
        "The program calls back into Python or uses a custom call, so it cannot be checked.",
        "The step is traced with shapes only and compiled in another process, so it must be a pure function "
        "of its arguments. Remove jax.debug.print, pure_callback and io_callback. An if, a float() or a NumPy "
        "function on a traced value needs a number that does not exist yet: use jnp.where, lax.cond and jnp "
        "instead.",
    ),
    "divergent_collective": Explanation(
        "Devices diverged",
        "Some devices waited forever in a collective that the others never reached, or could have been in different "
        "collectives at the same time.",
        "Every device of a group must reach the same collectives in the same order. Look for a psum, "
        "all_gather or ppermute in one branch of a lax.cond, or in a while_loop whose number of iterations "
        "differs between devices. Move it out, so that all devices take part, and select the result afterwards.",
    ),
    "time_limit": Explanation(
        "Time limit",
        "The submission was stopped because it ran longer than the problem allows.",
        "Look for a Python loop over elements, devices or layers that jnp, vmap or lax.scan can replace, "
        "and for a function that is jitted again in each iteration.",
    ),
    "memory_limit": Explanation(
        "Memory limit",
        "The submission was stopped because it used more memory than the problem allows.",
        "All devices share the memory of one machine here, so a replicated array counts once for each device. "
        "Look for whole arrays where a shard is enough.",
    ),
    "output_limit": Explanation(
        "Output limit",
        "The submission printed or returned more bytes than the problem allows.",
        "Return only what the statement requires, and remove prints of whole arrays.",
    ),
    "killed": Explanation(
        "Ended early",
        "The process ended early: it called exit, crashed, or did something that the sandbox forbids.",
        "Look for exit, quit or os.abort. The sandbox has no new processes, sockets or files, and no "
        "submission needs them.",
    ),
}

TRUST: dict[Trust, str] = {
    "verified": "Read outside your code's process, from the arrays or the program that it returned.",
    "observed": "Seen inside your code's process while it ran. It counts for points and acceptance, but never for a "
    "ranking. Code can forge it only for its own attempt.",
}


def reason_name(reason: Reason) -> str:
    """A reason in words. Templates have it as a filter."""
    return REASONS[reason].name


add_filter("reason_name", reason_name)
