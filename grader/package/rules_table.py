"""The rules that a package must keep: id, what breaks it, and what to do, as in docs/checking.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Level = Literal["error", "warning"]
# Marks what `meshgrade problem new` leaves for an author to write. No starter has such a mark for students.
MARK = "TODO(author)"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `means` says what breaks it, and `fix` says what to do."""

    level: Level
    means: str
    fix: str


def _error(means: str, fix: str) -> Rule:
    return Rule("error", means, fix)


def _warning(means: str, fix: str) -> Rule:
    return Rule("warning", means, fix)


_TRY = "Run `./meshgrade judge` on this file to see its whole verdict."
# These are in the order of docs/checking.md: faults found by the reader, then in the texts, then by the judge.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "missing-file": _error("a required file is missing or empty", "Write the file; docs/problems.md lists all."),
        "misplaced-file": _error("a file does not belong in a package", "Remove or rename the file."),
        "unreadable-file": _error(
            "a file is a link, is not UTF-8, or is over 1 MiB", "Save it as a plain UTF-8 file of less than 1 MiB."
        ),
        "toml": _error("problem.toml is not TOML", "Correct the TOML at this place."),
        "manifest": _error(
            "problem.toml lacks a key, has an unknown one, or has a wrong value",
            "Compare the key with the tables in docs/problems.md.",
        ),
        "points": _error("the points of the checks do not add up to 100", "Change the points of the checks."),
        "check": _error(
            "a check is unknown, repeated, has a wrong bound, or `values` is missing",
            "Compare the check with the tables in docs/problems.md.",
        ),
        "name": _error(
            "the manifest names a function, mesh axis, input or group that does not exist",
            "Correct the name, or define what it names.",
        ),
        "limit": _error(
            "a limit is above the maximum of this installation, or `wall_s` is below twice `time_s`",
            "Lower the limit, or raise `wall_s`.",
        ),
        "prerequisite": _error(
            "a prerequisite is not a problem, or is the problem itself", "Correct or remove the prerequisite."
        ),
        "uuid": _error("another problem has the same uuid", "Draw a new uuid for the newer problem."),
        "python": _error("the reference or the starter is not Python", "Correct the syntax at this line."),
        "helper": _error(
            "a file in helpers/ has the name of an installed module, is not Python, or is one too many",
            "Rename, correct or shorten the file.",
        ),
        "variant": _error(
            "a text or a submission names a value or a variant that does not exist, or a helper is called `variant`",
            "Correct the name, or add it to each table of `[[variants]]`.",
        ),
        "figure": _error(
            "a figure is missing, is not shown, or contains more than a drawing",
            "Correct the figure or the place that shows it.",
        ),
        "submissions": _error(
            "there is no accepted submission, or no rejected one", "Add at least one of each to submissions/."
        ),
        "reason": _error(
            "a folder in submissions/rejected is not named after a reason",
            "Rename the folder; docs/problems.md lists the reasons.",
        ),
        "misconception": _error(
            "a submission has no docstring in its first line",
            "State there what is special about it, or what its author misunderstood.",
        ),
        "pitfall": _error(
            "the statement names a known mistake that does not exist, or names one elsewhere than at the end of a "
            "single item of *Pitfalls*",
            "Correct the name, or move the comment to the end of the item that explains it.",
        ),
        "todo": _error(f"a {MARK} mark is left", "Write this part, then delete the mark."),
        "signature": _error(
            "the statement does not name the entry point with its arguments",
            "Write the call as code in statement.md, such as `step(mesh, x)`.",
        ),
        "hints": _error("hints.md has no hint", "Begin each hint with a heading such as `## Hint 1`."),
        "few-hints": _warning("hints.md has a single hint", "Add a first hint that only asks the right question."),
        "starter-solves": _error(
            "the starter's entry point is the reference's, and so is its `init`, if it has one",
            "Replace its body by `raise NotImplementedError`.",
        ),
        "leak": _error(
            "a public file contains the solution, the hidden inputs or the editorial",
            "Remove the copied text from the public file.",
        ),
        "link": _error("a text names a problem that does not exist", "Correct the slug, or remove the reference."),
        "stated-points": _warning(
            "the statement lists points by hand", "Remove the list: the page writes it from problem.toml."
        ),
        "ungraded-promise": _warning(
            "the statement promises something that no check grades", "Add the check, or remove the promise."
        ),
        "unbounded-collective": _warning(
            "the check `collectives` is missing, or allows a kind that no rule bounds over some set of axes",
            "Bound the kind there, with `at_most = 0.0` if nothing needs it, or take it out of `allowed`. A group in "
            "`not_into` or `not_only_from` needs a rule of its own that bounds it in `into` or `only_from`. Without "
            "rules, the check bounds all that a device sends by what accepted submissions send.",
        ),
        "budget": _warning(
            "budget.json is missing, or was measured from other files or with another JAX",
            "Run `./meshgrade problem check`, which measures what accepted submissions send, and commit the file.",
        ),
        "page": _error("a text cannot be shown as a page", "Simplify the Markdown of the file."),
        "cases": _error(
            "cases.py or the reference fails, or the cases do not fit the entry point",
            "Correct the file that the message names.",
        ),
        "questions": _error(
            "questions.py, mistakes.py or a template fails, or the questions do not fit the manifest",
            "Correct the file that the message names.",
        ),
        "never-wrong": _warning(
            "a known wrong formula is right in every question",
            "Draw parameters for which it is wrong, or remove the formula.",
        ),
        "reference": _error("the reference is not accepted", _TRY),
        "starter": _error("the starter is not rejected", "Remove the solution from the starter."),
        "accepted": _error("an accepted submission is not accepted", _TRY),
        "rejected": _error("a rejected submission is not rejected for the reason of its folder", _TRY),
        "uncaught": _error(
            "a submission is rejected, but no case and no check failed",
            "Add a case or a check that its mistake fails.",
        ),
        "untested-check": _warning(
            "no rejected submission fails a check", "Add a rejected submission whose only mistake this check finds."
        ),
        "flaky": _error(
            "the reference gets another verdict or another result when it is judged again",
            "Remove what differs between two runs, such as a random number without a seed.",
        ),
        "key-order": _error(
            "the reference is not accepted when it returns its dicts with their keys in another order",
            "Compare by key: `jax.jit` and `shard_map` return dicts with their keys sorted.",
        ),
        "mesh-difference": _warning(
            "the reference returns different values on different meshes",
            "Make the result independent of the number of devices, or raise the tolerance.",
        ),
        "unvaried-input": _error(
            "a size or a number that the statement leaves free is the same in every hidden case; or every seed is "
            "small, every mask is a length, names have one order, models are trees, or an end of a stated range is "
            "missing",
            "Give it another value or form in one hidden case, or state it: as a number in the shape, or as "
            '"`B` is 384".',
        ),
        "unused-input": _warning(
            "no output of the reference depends on an input", "Use the input in the result, or remove it."
        ),
        "constant-output": _warning(
            "an output is the same in every case", "Add a case in which this output has other values."
        ),
        "zero-output": _warning(
            "an output is zero within the tolerance in every case",
            "Add a case in which this output is larger, or lower `atol`.",
        ),
        "tight-tolerance": _warning(
            "an accepted submission uses over half of the tolerance",
            "Raise the tolerance, or find out why correct programs differ so much.",
        ),
        "loose-tolerance": _warning(
            "values rounded to a narrower dtype pass, or a wrong value is within ten times the tolerance",
            "Lower the tolerance, or add a case in which the wrong value differs more.",
        ),
        "tight-limit": _warning("correct submissions use over half of a limit", "Set the limit to the proposed value."),
        "loose-limit": _warning(
            "a limit is over 50 times what correct submissions use", "Set the limit to the proposed value."
        ),
        "surviving-mutant": _warning(
            "the reference with a mistake in it is accepted (only with `--mutants`)",
            "Add a case or check that finds the mistake, unless the change makes no difference.",
        ),
        "grader": _error(
            "the grader failed, so nothing is proved", "Check again; ./meshgrade doctor tests the grader."
        ),
    }
)
