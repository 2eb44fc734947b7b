"""What each reason of a rejected verdict means, in words a student can act on."""

from dataclasses import dataclass

from grader.verdict import Reason, Trust


@dataclass(frozen=True, slots=True)
class Explanation:
    """`name` is a headline; `sentence` says what happened and where to look."""

    name: str
    sentence: str


REASONS: dict[Reason, Explanation] = {
    "syntax_error": Explanation("Syntax error", "Python could not read the file, so none of it ran."),
    "missing_entry": Explanation(
        "Entry point missing", "The file ran, but it does not define the function that the problem asks for."
    ),
    "error": Explanation("Error", "Your code raised an exception; the last line of the traceback says which."),
    "wrong_value": Explanation("Wrong value", "Shape and dtype are right, but the numbers are outside the tolerance."),
    "wrong_shape": Explanation("Wrong shape", "The array that came back does not have the shape the problem states."),
    "wrong_dtype": Explanation("Wrong dtype", "The array that came back has another element type than the reference."),
    "wrong_structure": Explanation(
        "Wrong structure", "What came back, or the way it was computed, is not built as the problem states."
    ),
    "wrong_sharding": Explanation("Wrong sharding", "The numbers are right, but an array lives on the wrong devices."),
    "wrong_communication": Explanation(
        "Wrong communication", "The numbers are right, but the devices exchange more than, or not what, they should."
    ),
    "too_much_memory": Explanation(
        "Too much memory per device", "The compiled program holds more bytes on a device than the problem allows."
    ),
    "too_much_compute": Explanation(
        "Too much compute per device", "The compiled program does work on each device that should have been divided."
    ),
    "not_donated": Explanation(
        "State not donated", "The old state is kept alive beside the new one, which doubles its memory."
    ),
    "retraced": Explanation("Traced again", "The function was compiled more often than its shapes call for."),
    "not_exportable": Explanation(
        "Not exportable", "The program calls back into Python or uses a custom call, so it cannot be checked."
    ),
    "divergent_collective": Explanation(
        "Devices diverged", "Some devices reached a collective that the others never joined, so all waited forever."
    ),
    "time_limit": Explanation("Time limit", "The submission was stopped: it ran longer than the problem allows."),
    "memory_limit": Explanation(
        "Memory limit", "The submission was stopped: it used more memory than the problem allows."
    ),
    "output_limit": Explanation("Output limit", "The submission wrote or returned more bytes than the problem allows."),
    "killed": Explanation(
        "Ended early", "The process ended before it answered: it called exit, crashed, or did what the sandbox forbids."
    ),
}

TRUST: dict[Trust, str] = {
    "verified": "Read outside of your code's process, from the arrays or the program that it returned.",
    "observed": "Seen beside your code while it ran. It teaches, and counts for points, but never feeds a ranking.",
}
