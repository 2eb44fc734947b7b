"""The sentences and tables of a chip's program."""

import pytest

from app.presentation.chip_view import arrange_chip
from grader.explorer.exploration import ChipProgram, ChipStep
from tests.app.presentation.drawings.test_schedule import collective, computation


def program(**changes: object) -> ChipProgram:
    fields: dict[str, object] = {"topology": "h100:8", "compiler": "XLA", "hbm_bytes": 80 << 30, "flops": 0}
    fields |= {"argument_bytes": 4 << 20, "output_bytes": 4 << 20, "temporary_bytes": 1 << 20, "peak_bytes": 5 << 20}
    return ChipProgram.model_validate(fields | changes)


def test_the_memory_says_what_is_overwritten_in_place() -> None:
    said = (
        "At its peak, the program uses 5.0 MiB of a chip's 80.0 GiB, including 4.0 MiB for arguments and 1.0 MiB for "
    )
    work = "Matrix products on each chip: 0 FLOP."
    in_place = "4.0 MiB of the arguments are overwritten in place."
    assert arrange_chip(program(alias_bytes=4 << 20)).memory == f"{said}temporaries. {in_place} {work}"
    assert arrange_chip(program()).memory == f"{said}temporaries. {work}"


ONLY = "of this is there only because cuBLAS computes the products:"


def for_cublas(workspace_bytes: int, *operands: tuple[int, str, str, int | None]) -> dict[str, object]:
    listed = [dict(zip(("bytes", "given", "dtype", "line"), each, strict=True)) for each in operands]
    found = {"workspace_bytes": workspace_bytes, "operand_bytes": sum(each[0] for each in operands), "operands": listed}
    return {"for_libraries": found}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (for_cublas(0), ""),
        (
            for_cublas(4 << 20),
            "4.0 MiB of this is there only because cuBLAS computes the products: 4.0 MiB of workspace.",
        ),
        (
            for_cublas(1 << 20, (2 << 20, "f8e4m3fn", "bf16", 7)),
            f"3.0 MiB {ONLY} 2.0 MiB for an operand that is converted from float8_e4m3fn to bfloat16 for it on line 7 "
            "and 1.0 MiB of workspace. XLA's own kernels do that while they multiply.",
        ),
        (
            for_cublas(0, (2 << 20, "s8", "s8", None), (1 << 20, "s8", "bf16", 7)),
            f"3.0 MiB {ONLY} 3.0 MiB for operands, the largest of which is transposed for it. XLA's own kernels do "
            "that while they multiply.",
        ),
    ],
    ids=["nothing", "workspace", "converted", "transposed"],
)
def test_the_memory_says_what_is_there_only_for_cublas(found: dict[str, object], text: str) -> None:
    plain = arrange_chip(program()).memory
    before, work = plain.partition(" Matrix products")[0], "Matrix products on each chip: 0 FLOP."
    assert arrange_chip(program(**found)).memory == " ".join(filter(None, (before, text, work)))


@pytest.mark.parametrize(
    ("executions", "part", "times"),
    [
        (1, "Part 1, in a branch, which runs at most once", "at most 1"),
        (4, "Part 1, in a branch, which runs at most 4 times", "at most 4"),
        (None, "Part 1, in a branch, which runs an unknown number of times", "at most ?"),
    ],
)
def test_a_branch_is_marked_as_in_the_table_of_the_host(executions: int | None, part: str, times: str) -> None:
    main = computation([collective(0, 0)], [None])
    changes = {"name": "branch", "caller": "conditional", "executions": executions, "conditional": True}
    view = arrange_chip(program(computations=[main, main.model_copy(update=changes)]))
    assert [each.name for each in view.parts] == ["The program", part]
    rows = [row for each in view.parts if each.collectives for row in each.collectives.rows]
    assert [(row.cells[0].notes, row.cells[3].text) for row in rows] == [((), "1"), (("in a branch",), times)]
    assert "a chip sends at most" in view.sent
    assert "at most" not in arrange_chip(program(computations=[main])).sent


def test_calls_of_libraries_are_named_with_what_is_known_of_them() -> None:
    names = ["__cublas$lt$matmul", "cusolver_syevd_ffi", "__cudnn$fmhaSoftmax", "pallas.triton", "AllocateBuffer", ""]
    steps = [{"name": "a", "cycles": None, "flops": 0, "line": 7, "target": each} for each in names]
    main = computation([], []).model_copy(
        update={"executions": 1, "steps": [ChipStep.model_validate(each) for each in steps]}
    )
    body = main.model_copy(update={"name": "body", "caller": "while", "executions": 4})
    table = arrange_chip(program(computations=[main, body])).calls
    assert table is not None
    assert [tuple(cell.text for cell in row.cells[:4]) for row in table.rows] == [
        ("__cublas$lt$matmul", "cuBLAS", "5", "arrays and FLOPs"),
        ("cusolver_syevd_ffi", "cuSOLVER", "5", "arrays; its FLOPs are not counted"),
        ("__cudnn$fmhaSoftmax", "cuDNN", "5", "arrays; neither its FLOPs nor its workspace"),
        ("pallas.triton", "Pallas, a kernel of the program", "5", "arrays; its FLOPs are not counted"),
    ]
    assert {row.line for row in table.rows} == {7}
    assert arrange_chip(program()).calls is None


def test_the_memory_of_the_host_has_a_sentence_and_a_row() -> None:
    view = arrange_chip(program(host_bytes=8 << 20))
    assert "8.0 MiB are in the host's memory." in view.memory
    assert [(row.amount.name, row.amount.mine) for row in view.amounts.rows][-1] == ("in the host's memory", 8 << 20)
