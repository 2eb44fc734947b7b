"""The schedule of a program for TPUs: which collectives go on while something computes.

Read from texts that libtpu printed for the programs in scheduled_programs.py, which names its version.
"""

from pathlib import Path

import pytest

from grader.core.chips import CHIPS
from grader.program.differences_on_chip import differences_on_chip
from grader.program.hlo import read_hlo
from grader.program.on_chip import from_json
from grader.program.schedule import MAX_STEPS, Schedule, ScheduledComputation
from grader.program.schedule_reader import read_schedule
from grader.program.tokens import ProgramUnreadable

SCHEDULED = Path(__file__).with_name("scheduled")
PRODUCT = 2 * 1024**3


def schedule_of(name: str) -> Schedule:
    return read_schedule(read_hlo((SCHEDULED / f"{name}.txt").read_text()), 8, {"fsdp": 8}, CHIPS["v5e"])


def communication(computation: ScheduledComputation) -> list[tuple[str, bool, int]]:
    """Kind, whether it is asynchronous, and the cycles that hide it."""
    return [
        (each.kind, each.asynchronous, sum(step.cycles or 0 for step in computation.between(each)))
        for each in computation.collectives
    ]


def test_a_gather_that_goes_on_during_a_product_is_hidden_by_it():
    [program] = schedule_of("gathered_ahead").computations
    assert communication(program) == [
        ("all-gather", False, 0),
        ("all-gather", True, 384),
        ("all-gather", True, 384),
        # One fusion of an all-reduce and the slices of its results.
        ("reduce-scatter", False, 0),
    ]
    assert [[step.flops for step in program.between(each)] for each in program.collectives] == [
        [], [2 * 128 * 256 * 256], [2 * 128 * 256 * 256], []
    ]  # fmt: skip


def test_each_collective_has_its_bytes_its_dtype_and_its_line():
    [program] = schedule_of("gathered_ahead").computations
    gathers, scatter = program.collectives[:3], program.collectives[3]
    # The products of a TPU take bfloat16 by default, and it gathers them as such: half the bytes of float32.
    assert {(each.dtypes, each.logical_bytes, each.ring_bytes, each.axes) for each in gathers} == {
        (("bf16",), 2 * 256 * 256, 2 * 256 * 256 * 7 // 8, ("fsdp",))
    }
    assert (scatter.dtypes, scatter.logical_bytes) == (("f32",) * 3, 3 * 4 * 256 * 256)
    assert scatter.ring_bytes == scatter.logical_bytes * 7 // 8
    assert {each.line for each in program.collectives} == {11}


def test_what_several_lines_sent_is_one_collective_with_a_share_for_each():
    [program] = schedule_of("lines_merged").computations
    [summed] = [each for each in program.collectives if each.kind == "all-reduce"]
    assert [(each.line, each.dtypes, each.logical_bytes) for each in summed.shares] == [
        (51, ("f32",), 4 * 1024), (52, ("f32", "f32"), 2 * 4 * 512),
    ]  # fmt: skip
    assert sum(each.logical_bytes for each in summed.shares) == summed.logical_bytes
    # A collective of one line is its own share.
    [gather] = [each for each in program.collectives if each.kind == "all-gather"]
    assert (gather.by_line, gather.shares[0].logical_bytes) == ((), gather.logical_bytes)


def test_a_loop_is_one_step_of_its_caller_and_has_a_schedule_of_its_own():
    program, forward, backward = schedule_of("layers_in_a_loop").computations
    loops = [step for step in program.steps if step.name.startswith("while")]
    assert [(each.caller, each.executions) for each in (program, forward, backward)] == [
        ("", 1), (loops[0].name, 4), (loops[1].name, 4),
    ]  # fmt: skip
    assert [step.flops for step in loops] == [4 * PRODUCT, 3 * 4 * PRODUCT]
    assert [step.cycles for step in loops] == [
        4 * sum(step.cycles or 0 for step in body.steps) for body in (forward, backward)
    ]
    assert communication(forward) == [("all-gather", False, 0)]
    assert communication(backward) == [("all-gather", False, 0), ("reduce-scatter", False, 0)]


def test_a_ring_sends_while_it_multiplies():
    program, body = schedule_of("ring").computations
    assert program.collectives == ()
    assert communication(body) == [("collective-permute", True, 16640)]
    assert body.executions == 8


def test_an_all_reduce_that_nothing_hides_starts_and_ends_in_one_step():
    [program] = schedule_of("summed_gradients").computations
    assert communication(program) == [("all-reduce", False, 0)]
    [only] = program.collectives
    assert only.start == only.done


def test_what_differs_from_the_cpus_program_is_said_in_sentences():
    schedule = schedule_of("layers_in_a_loop")
    assert differences_on_chip((), {"fsdp": 8}, schedule, CHIPS["v5e"]) == [
        "Only the TPU runs all-gather over fsdp: 8 times, 16 MiB.",
        "Only the TPU runs reduce-scatter over fsdp: 4 times, 16 MiB.",
    ]


STARTED = """HloModule m, is_scheduled=true

ENTRY %main (p: f32[8]) -> f32[64] {
  %p = f32[8] parameter(0)
  %start = (f32[8], f32[64]) all-gather-start(%p), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  %meanwhile = f32[8] add(%p, %p), backend_config={"window_config":{"estimated_cycles":"70"}}
  ROOT %done = f32[64] all-gather-done(%start)
}
"""  # noqa: E501


def read(text: str) -> Schedule:
    return read_schedule(read_hlo(text), 8, {"fsdp": 8}, CHIPS["v5e"])


def test_a_start_and_its_done_are_one_collective():
    [program] = read(STARTED).computations
    assert communication(program) == [("all-gather", True, 70)]


def test_a_kernel_of_ones_own_is_a_step_without_an_estimate():
    meanwhile = '%meanwhile = f32[8] add(%p, %p), backend_config={"window_config":{"estimated_cycles":"70"}}'
    kernel = '%kernel = f32[8] custom-call(%p), custom_call_target="tpu_custom_call"'
    other = '%other = f32[8] custom-call(%p), custom_call_target="Sharding"'
    [program] = read(STARTED.replace(meanwhile, f"{kernel}\n  {other}")).computations
    assert [(each.name, each.cycles) for each in program.steps][1:2] == [("kernel", None)]
    assert not any(each.name == "other" for each in program.steps)


def test_another_collective_of_the_same_channel_is_one_of_its_own():
    alike = "channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true"
    after = f"%done = f32[64] all-gather-done(%start)\n  ROOT %again = f32[512] all-gather(%done), {alike}"
    [program] = read(STARTED.replace("ROOT %done = f32[64] all-gather-done(%start)", after)).computations
    assert communication(program) == [("all-gather", True, 70), ("all-gather", False, 0)]


def test_a_start_without_a_wait_hides_until_the_end():
    waits = "ROOT %done = f32[64] all-gather-done(%start)"
    [program] = read(STARTED.replace(waits, "ROOT %r = f32[8] negate(%p)")).computations
    assert [(each.done, sum(step.cycles or 0 for step in program.between(each))) for each in program.collectives] == [
        (None, 70)
    ]


BRANCHES = """HloModule m, is_scheduled=true

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%taken (t: f32[8]) -> f32[8] {
  %t = f32[8] parameter(0)
  ROOT %summed = f32[8] all-reduce(%t), channel_id=1, replica_groups=[1,8]<=[8], to_apply=%add, use_global_device_ids=true
}

%inner (n: f32[8]) -> f32[8] {
  %n = f32[8] parameter(0)
  ROOT %max = f32[8] all-reduce(%n), channel_id=2, replica_groups=[1,8]<=[8], to_apply=%add, use_global_device_ids=true
}

%other (o: f32[8]) -> f32[8] {
  %o = f32[8] parameter(0)
  ROOT %called = f32[8] call(%o), to_apply=%inner
}

ENTRY %main (p: f32[8], flag: pred[]) -> f32[8] {
  %p = f32[8] parameter(0)
  %flag = pred[] parameter(1)
  %always = f32[8] all-reduce(%p), channel_id=3, replica_groups=[1,8]<=[8], to_apply=%add, use_global_device_ids=true
  ROOT %chosen = f32[8] conditional(%flag, %always, %always), true_computation=%taken, false_computation=%other
}
"""  # noqa: E501


def test_a_collective_in_a_branch_runs_at_most_as_often():
    found = read(BRANCHES).computations
    assert {each.name: (len(each.collectives), each.executions, each.conditional) for each in found} == {
        "main": (1, 1, False),
        "taken": (1, 1, True),
        # A branch calls it.
        "inner": (1, 1, True),
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", is_scheduled=true", "", "the compiler did not schedule it"),
        ('"70"', '"seven"', "'meanwhile' has no number of estimated cycles"),
        ('"70"', '"-7"', "'meanwhile' has no number of estimated cycles"),
        ('"70"', f'"{2**62}"', "'meanwhile' has no number of estimated cycles"),
        ("replica_groups=[1,8]<=[8]", "replica_groups=[1,9]<=[9]", "cannot be read"),
    ],
)
def test_a_text_that_is_no_schedule_is_refused(old, new, message):
    with pytest.raises(ProgramUnreadable, match=message):
        read(STARTED.replace(old, new))


def test_a_schedule_of_many_steps_is_cut_and_says_by_how_many():
    step = '  %s{0} = f32[8] add(%p, %p), backend_config={{"estimated_cycles":"1"}}\n'
    many = "".join(step.format(number) for number in range(MAX_STEPS))
    found = read(STARTED.replace("  %meanwhile", f"{many}  %meanwhile"))
    assert (len(found.computations[0].steps), found.left_out) == (MAX_STEPS, 3)
    # Its start is listed, but not the wait for it.
    assert found.computations[0].collectives == ()


def program_json(*copies: dict[str, object], **changed: object) -> dict[str, object]:
    step = {"name": "a", "cycles": 1, "flops": 0, "line": None, "target": ""}
    collective = {
        "kind": "all-gather", "dtypes": ["f32"], "axes": ["fsdp"], "group_size": 8, "logical_bytes": 8, "ring_bytes": 7,
        "link": "ICI",
        "line": None, "start": 0, "done": 1, "by_line": [],
    } | changed  # fmt: skip
    computation = {
        "name": "main", "caller": "", "executions": 1, "steps": [step] * 2, "collectives": [collective],
        "copies": list(copies), "conditional": False,
    }  # fmt: skip
    memory = {"argument_bytes": 0, "output_bytes": 0, "temporary_bytes": 0, "alias_bytes": 0}
    schedule = {"computations": [computation], "left_out": 0, "copies_left_out": 0}
    sizes = {"memory": memory, "peak_bytes": 0, "host_bytes": 0, "for_libraries": None}
    return sizes | {"flops": 0, "schedule": schedule}


def test_what_a_verifier_answers_is_read_without_trust():
    assert from_json(program_json()).schedule.computations[0].collectives[0].asynchronous
    copy = {"shape": "f32[8]", "bytes": 32, "source": "HBM", "target": "on-chip memory", "line": None, "start": 0}
    assert from_json(program_json(copy | {"done": 2})).schedule.computations[0].copies
    with pytest.raises(ProgramUnreadable, match="a copy starts after the wait for it"):
        from_json(program_json(copy | {"done": 3}))
    one_line = {"line": 3, "dtypes": ["f32"], "logical_bytes": 7, "ring_bytes": 7}
    assert not from_json(program_json(by_line=[one_line, one_line | {"logical_bytes": 1}])).schedule.left_out
    with pytest.raises(ProgramUnreadable, match="the lines of a collective send other bytes"):
        from_json(program_json(by_line=[one_line]))
    for wrong in ({"done": 2}, {"start": 1, "done": 0}, {"start": 2, "done": None}, {"done": "1"}, {"line": -1}):
        with pytest.raises(ProgramUnreadable):
            from_json(program_json(**wrong))
