import pytest

from grader.core.errors import SubmissionFault
from grader.core.xla_options import GivenOption
from grader.modes.program.chip_options import choose_options

A, B = "xla_gpu_all_gather_combine_threshold_bytes", "xla_gpu_enable_pipelined_all_gather"
COUNT = "xla_force_host_platform_device_count"


def source(*flags: str) -> str:
    return f'import os\nos.environ["XLA_FLAGS"] = "{" ".join(flags)}"\n'


def test_what_a_person_chose_counts_most_and_the_environment_least():
    in_file = source(f"--{A}=1", f"--{B}", "--xla_gpu_enable_pipelined_p2p=1")
    found = choose_options("h100", {A: "3"}, in_file, [(A, "2"), (B, "False")])
    assert found.options == (
        GivenOption(A, "3"),
        GivenOption(B, "false", 2),
        GivenOption("xla_gpu_enable_pipelined_p2p", "true", 2),
    )
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("chip", "why"),
    [(None, "To see what it does, choose a GPU to compile for."), ("v5e", "The chip is a TPU v5e chip.")],
)
def test_options_for_gpus_have_no_effect_elsewhere_and_are_not_checked(chip, why: str):
    found = choose_options(chip, {}, source("--xla_gpu_no_such_option=1"))
    assert found.options == ()
    assert found.remarks == (
        f"The XLA option `xla_gpu_no_such_option` of line 2 is for GPUs, and has no effect here. {why}",
    )


def test_options_that_change_nothing_are_named():
    found = choose_options("h100", {}, source(f"--{COUNT}=8", "--xla_cpu_enable_fast_math=true"))
    assert found.options == ()
    assert found.remarks == (
        f"Line 2 sets `{COUNT}`, which has no effect here. There are as many devices as the mesh has.",
        "Line 2 sets `xla_cpu_enable_fast_math`, which has no effect here. The program for host devices has the same "
        "options for everyone.",
    )


def test_the_usual_number_of_host_devices_needs_no_note_without_a_chip():
    assert choose_options(None, {}, source(f"--{COUNT}=8")).remarks == ()


def test_flags_that_cannot_be_read_are_named():
    unread = 'import os\nos.environ["XLA_FLAGS"] = open("flags").read()\n'
    assert choose_options(None, {}, unread).remarks == ()
    [remark] = choose_options("h100", {}, unread).remarks
    assert remark.startswith("Line 2 sets `XLA_FLAGS` to something that is known only when the source runs")


def test_a_value_that_does_not_fit_is_refused_with_its_line():
    with pytest.raises(SubmissionFault) as refused:
        choose_options("h100", {}, "\n" + source(f"--{A}=many"))
    assert str(refused.value).startswith(f"Line 3 sets an option of XLA. {A} is set to 'many', but it takes a whole")
    assert refused.value.detail == {"line": 3}


def test_a_value_of_a_jit_without_a_line_is_refused_by_name():
    with pytest.raises(SubmissionFault, match=f"^{A} is set to"):
        choose_options("h100", {}, "", [(A, "many")])
