"""Numbers and programs of statements, what they say of Explicit axes, and the questions of answer-mode problems."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.import_closure import CHECKOUT
from tests.problems.passages import FILES, blocks, computed, expressions, passages, plain
from tests.prove import digests
from tests.prove.kind import Kind, compared

PROBLEMS = CHECKOUT / "problems"
_NUMBERS = "tests/problems/statement_programs.py"
_ON_GPU = "tests/gpu/measured_programs.json"
_ON_TPU = "tests/tpu/full_size.json"
_UNIT = r"(?:bytes?|FLOPs?|[kKMGT]i?B|ms|µs|us)\b"
# 1,234 and 1{,}234 and 1234; 0.38 times; 12 GB; 0.4997. A small plain number in front of "times" or "%" is a word.
NUMBER = re.compile(
    rf"(?<![\w.{{^,])(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{4,}}(?:\.\d+)?|\d+\.\d{{4,}}|\d+\.\d+(?= times)"
    rf"|\d+(?:\.\d+)?(?= ?{_UNIT}))"
)
# Where the instructions of a program come from: files of this machine, and the numbers that refer to them.
_PLACES = re.compile(
    r"^(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*\n*|,? ?stack_frame_id=\d+", re.MULTILINE
)
_DECIMAL = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
EXPLICIT_AXES = {
    "axis types of jax.make_mesh": "Explicit",
    "axis types of Mesh": "Auto",
    "a constraint with a split spec": "ValueError",
    "split rows plus a split bias": "ShardingTypeError",
    "a product over a split dimension": "ShardingTypeError",
    "an index into split layers": "ShardingTypeError",
    "a scan over split layers": "ValueError",
    "shard_map of an array with another sharding": "ValueError",
    "the same on Auto axes": "fine",
}


def slugs() -> list[str]:
    return sorted(path.parent.name for path in PROBLEMS.glob("*/problem.toml"))


def deciding(slug: str, named: str) -> dict[str, str]:
    """The files of a problem that decide what its programs do, among them the submissions that `named` has the name of.

    Prose, figures and the stored verdicts of known mistakes decide nothing.
    """
    words = frozenset(re.findall(r"\w+", named))
    return digests.of_files(path for path in digests.files_in(f"problems/{slug}") if _decides(Path(path), words))


def _decides(path: Path, words: frozenset[str]) -> bool:
    if path.suffix != ".py":
        return path.name == "problem.toml"
    return "submissions" not in path.parts or path.stem in words


def _numbers(slug: str) -> dict[str, str]:
    wanted = "\n".join(expressions(slug))
    programs = (CHECKOUT / _NUMBERS).read_text(encoding="utf-8")
    parts = {
        "blocks": digests.of_text(json.dumps(list(blocks(PROBLEMS / slug)))),
        "expressions": digests.of_text(wanted),
        **deciding(slug, f"{wanted}\n{programs}"),
    }
    if "on_gpu(" in wanted:
        of_slug = json.loads((CHECKOUT / _ON_GPU).read_text(encoding="utf-8"))[slug]
        parts[_ON_GPU] = digests.of_text(json.dumps(of_slug))
    if "on_tpu(" in wanted:
        parts[_ON_TPU] = digests.of_file(_ON_TPU)
    return parts


def _kept_numbers(measured: dict[str, Any]) -> dict[str, Any]:
    """Keep output as a list of lines, so that a difference is short, without the places where programs were traced."""
    printed = [{**each, "printed": _PLACES.sub("", each["printed"]).split("\n")} for each in measured["blocks"]]
    return {"blocks": printed, "numbers": measured["numbers"]}


def _wrong_numbers(slug: str, measured: dict[str, Any]) -> list[str]:
    return [
        *(
            f"problems/{slug}: block {number} of its texts ends with {each['error']}"
            for number, each in enumerate(measured["blocks"], 1)
            if each["error"]
        ),
        *(wrong for file in FILES for wrong in _wrong_passages(slug, file, measured["numbers"])),
    ]


def _wrong_passages(slug: str, file: str, values: dict[str, str]) -> Iterator[str]:
    found = [computed(each, values) for each in passages(slug)[file]]
    text = plain((PROBLEMS / slug / file).read_text(encoding="utf-8"))
    for each in found:
        if each not in text:
            yield f"problems/{slug}/{file} does not say: {each}"
    for each in uncovered(text, found):
        yield f"problems/{slug}/{file}: no passage of tests/problems/numbers/{slug}.txt holds the number in: {each}"


def uncovered(text: str, covered: list[str]) -> list[str]:
    """Numbers of the text that no passage covers, each with the words around it."""
    spans = [match.span() for each in covered for match in re.finditer(re.escape(each), text)]
    return [
        text[max(0, match.start() - 40) : match.end() + 20]
        for match in NUMBER.finditer(text)
        if not any(start <= match.start() and match.end() <= end for start, end in spans)
    ]


def _apart_numbers(kept: dict[str, Any], measured: dict[str, Any]) -> list[str]:
    """Compare results, ignoring the last digits of printed decimal numbers, which differ between processors."""
    return compared(*({**each, "blocks": _rounded(each["blocks"])} for each in (kept, measured)))


def _rounded(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**each, "printed": [_DECIMAL.sub(lambda match: f"{float(match[0]):.3g}", line) for line in each["printed"]]}
        for each in blocks
    ]


def _wrong_axes(unit: str, measured: dict[str, str]) -> list[str]:
    return [
        f"{what}: statements say {said}, measured was {measured.get(what)}"
        for what, said in EXPLICIT_AXES.items()
        if measured.get(what) != said
    ]


def _questions() -> list[str]:
    return sorted(path.parent.name for path in PROBLEMS.glob("*/questions.py"))


def _wrong_questions(slug: str, measured: dict[str, Any]) -> list[str]:
    """Report right answers that are rejected, known wrong formulas that are not rejected with their misunderstanding,
    and answers that arrays on devices do not confirm.
    """
    often = measured["questions"] // 10
    faults = [
        *measured["findings"],
        *(f"placed arrays do not confirm {each['truth']} but {each['placed']}" for each in measured["wrong"]),
        *(f"in {n} questions, alike: {names}" for names, n in measured["alike"].items() if n > often),
        *(
            f"single messages do not do what {kind} does"
            for kind, same in measured.get("messages", {}).items()
            if not same
        ),
    ]
    if measured["questions"] <= 50:
        faults.append(f"{measured['questions']} questions, and more than 50 are needed")
    if len(measured["mistakes"]) < 6:
        faults.append(f"{len(measured['mistakes'])} wrong formulas, and at least 6 are needed")
    return [f"problems/{slug}: {each}" for each in faults]


KINDS = (
    Kind(
        "numbers",
        _NUMBERS,
        slugs,
        _numbers,
        _wrong_numbers,
        kept=_kept_numbers,
        apart=_apart_numbers,
    ),
    Kind("explicit_axes", "tests/problems/explicit_axes.py", lambda: ["explicit_axes"], lambda _: {}, _wrong_axes),
    Kind(
        "questions",
        "tests/problems/answer_questions.py",
        _questions,
        # The rules read every file, the texts too.
        lambda slug: digests.of_files(digests.files_in(f"problems/{slug}")),
        _wrong_questions,
    ),
)
