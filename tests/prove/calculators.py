"""The programs that calculators compare their results with."""

import json
from typing import Any

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import PROBLEMS
from tests.import_closure import CHECKOUT
from tests.prove import digests
from tests.prove.kind import Kind, compared
from tests.prove.problems import deciding

# `python -m tests.app.learning.calculators.write_measured_programs` writes it from the receipts.
MEASURED = CHECKOUT / "app" / "learning" / "calculators" / "measured_programs.json"


def names() -> list[str]:
    """Return the names of the programs, in the order of the file."""
    return [*PROBLEMS, *OWN_PROGRAMS]


def _of_program(name: str) -> dict[str, str]:
    return deciding(name, "") if name in PROBLEMS else _of_own(name)


def _of_own(name: str) -> dict[str, str]:
    """Return the digests of a program of ours, and of the problem whose batch it trains on."""
    own = OWN_PROGRAMS[name]
    return {"program": digests.of_text(repr((own.source, own.meshes, own.x, own.y))), **deciding("dp_step", "")}


def _wrong_program(name: str, measured: list[dict[str, Any]]) -> list[str]:
    written = json.loads(MEASURED.read_text(encoding="utf-8"))
    ours = [each for each in written["programs"] if each["name"] == name]
    faults = compared(ours, measured)
    if written["jax"] != digests.versions()["jax"]:
        faults.append(f"jax is {written['jax']}")
    file = MEASURED.relative_to(CHECKOUT)
    mend = "python -m tests.app.learning.calculators.write_measured_programs"
    return [f"{file}, {name}: {each.replace('the receipt', 'the file')}; to write it again: {mend}" for each in faults]


def _wrong_steps(name: str, measured: dict[str, float]) -> list[str]:
    """Report where three steps don't give the state and losses of data parallelism within the tolerance of dp_step."""
    return [
        f"lessons/{OWN_PROGRAMS[name].lesson}/programs/{name}.py on {axes} is {share} times the tolerance from dp_step"
        for axes, share in measured.items()
        if not share <= 1
    ]


def _apart_steps(kept: dict[str, float], measured: dict[str, float]) -> list[str]:
    """Report only shares of the tolerance above 1, because smaller ones differ between processors."""
    return [f"{axes}: {share} times the tolerance" for axes, share in measured.items() if not share <= 1] + [
        f"{axes} is missing" for axes in kept.keys() ^ measured.keys()
    ]


KINDS = (
    Kind("calculators", "tests/problems/reference_programs.py", names, _of_program, _wrong_program),
    Kind(
        "own_programs",
        "tests/problems/own_programs_against_dp.py",
        lambda: list(OWN_PROGRAMS),
        _of_own,
        _wrong_steps,
        apart=_apart_steps,
    ),
)
