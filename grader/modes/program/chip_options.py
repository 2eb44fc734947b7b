"""The XLA options with which a source is compiled for a GPU: those that a person chose, and those of the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.core.chips import CHIPS, ChipName
from grader.core.errors import SubmissionFault
from grader.core.xla_options import GivenOption, read_option, reason_without_effect
from grader.inputs.xla_flags import flags_of_source

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ChosenOptions:
    """What the compiler gets, and sentences on what it does not get."""

    options: tuple[GivenOption, ...] = ()
    remarks: tuple[str, ...] = ()


def choose_options(
    chip: ChipName | None, chosen: Mapping[str, str], source: str, of_jit: Sequence[tuple[str, str]] = ()
) -> ChosenOptions:
    """Decide with which options the program is compiled for the chip.

    As in JAX, an option of a `jit` counts more than one in `XLA_FLAGS`. One that the person chose beside the source
    counts more than both.

    Args:
      chosen: options that were read by `grader.core.xla_options` already.
      of_jit: the names and the values of `compiler_options` that the process that ran the source has found, unchecked.
    Raises:
      SubmissionFault: the source gives an option that is not taken, or a value that does not fit it.
    """
    found = flags_of_source(source)
    lines = source.splitlines() if of_jit else []
    given = {each.name: each for each in found.options}
    given |= {name: GivenOption(name, value, _line_of(name, lines)) for name, value in of_jit}
    without_effect = {name: each for name, each in given.items() if reason_without_effect(name)}
    remarks = [
        _has_no_effect(each)
        for name, each in without_effect.items()
        # Many sources begin with this one. Without a chip, nobody asked what options do.
        if chip is not None or name != "xla_force_host_platform_device_count"
    ]
    given = {name: each for name, each in given.items() if name not in without_effect}
    given |= {name: GivenOption(name, value) for name, value in chosen.items()}
    if chip is None or CHIPS[chip].gpu is None:
        return ChosenOptions((), (*remarks, *_for_gpus_only(given, chip)))
    if found.unread:
        remarks.append(_are_unread(found.unread))
    return ChosenOptions(tuple(_checked(each) for each in given.values()), tuple(remarks))


def _line_of(name: str, lines: Sequence[str]) -> int:
    """The first line that has the name of an option; 0 if there is none, as if it was put together."""
    return next((number for number, line in enumerate(lines, 1) if name in line), 0)


def _checked(each: GivenOption) -> GivenOption:
    try:
        return GivenOption(each.name, read_option(each.name, each.value), each.line)
    except ValueError as error:
        where = f"Line {each.line} sets an option of XLA. " if each.line else ""
        raise SubmissionFault("not_exportable", f"{where}{error}", line=each.line or None) from None


def _has_no_effect(each: GivenOption) -> str:
    sets = f"Line {each.line} sets" if each.line else "The source sets"
    return f"{sets} `{each.name[:80]}`, which has no effect here. {reason_without_effect(each.name)}"


def _for_gpus_only(given: Mapping[str, GivenOption], chip: ChipName | None) -> list[str]:
    if not given:
        return []
    names = ", ".join(f"`{name[:80]}`" for name in list(given)[:_MOST_NAMED])
    more = f" and {len(given) - _MOST_NAMED} more" if len(given) > _MOST_NAMED else ""
    many = len(given) > 1
    lines = sorted({each.line for each in given.values() if each.line})
    where = f" of line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}" if lines else ""
    why = "To see what it does, choose a GPU to compile for." if chip is None else f"The chip is {CHIPS[chip].one}."
    subject = f"The XLA options {names}{more}{where} are" if many else f"The XLA option {names}{where} is"
    return [f"{subject} for GPUs, and {'have' if many else 'has'} no effect here. {why}"]


def _are_unread(lines: Sequence[int]) -> str:
    named = ", ".join(map(str, lines[:_MOST_NAMED]))
    more = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
    subject = f"Line {named} sets" if len(lines) == 1 else f"Lines {named}{more} set"
    return (
        f"{subject} `XLA_FLAGS` to something that is known only when the source runs, so its options are left out. "
        "Write them as a literal text at the top level of the source."
    )
