import re
from pathlib import Path

import pytest

from grader.core.xla_options import OPTIONS, for_compiler, read_option, read_typed, reason_without_effect, written

THRESHOLD = "xla_gpu_all_gather_combine_threshold_bytes"
SYNCHRONOUS = "xla_gpu_disable_async_collectives"


def refusal(name: str, value: str) -> str:
    with pytest.raises(ValueError, match=re.escape(name)) as refused:
        read_option(name, value)
    return str(refused.value)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_each_default_is_a_value_that_the_option_takes(option):
    assert option.read(option.default) == option.default
    assert option.does.endswith(".")
    assert "\n" not in option.does


def test_options_are_typed_as_in_the_environment_or_line_by_line():
    typed = f"--{THRESHOLD}=0 xla_gpu_enable_latency_hiding_scheduler=True\n  --xla_gpu_enable_pipelined_all_gather\n"
    found = read_typed(typed)
    assert found == {
        THRESHOLD: "0",
        "xla_gpu_enable_latency_hiding_scheduler": "true",
        "xla_gpu_enable_pipelined_all_gather": "true",
    }
    assert read_typed(written(found)) == found
    assert for_compiler(found)["xla_gpu_enable_latency_hiding_scheduler"] is True
    assert for_compiler(found)[THRESHOLD] == "0"


def test_the_last_value_of_an_option_counts():
    assert read_typed(f"--{THRESHOLD}=1 --{THRESHOLD}=007") == {THRESHOLD: "7"}


def test_a_list_has_each_word_once():
    assert read_option(SYNCHRONOUS, "ALLGATHER,ALLREDUCE,ALLGATHER") == "ALLGATHER,ALLREDUCE"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (THRESHOLD, "-1", "it takes a whole number from 0 to 1,099,511,627,776"),
        (THRESHOLD, "9" * 400, "it takes a whole number"),
        (THRESHOLD, "1e6", "is set to '1e6'"),
        ("xla_gpu_experimental_parallel_collective_overlap_limit", "0", "from 1 to 64"),
        ("xla_gpu_enable_pipelined_p2p", "yes", "it takes true or false"),
        (SYNCHRONOUS, "ALLGATHER,EVERYTHING", "a list with commas of ALLREDUCE, ALLGATHER"),
        ("xla_disable_hlo_passes", "dce", "it takes all-reduce-promotion"),
        ("xla_gpu_all_gather_threshold_bytes", "0", f"such as {THRESHOLD}"),
        ("xla_gpu_enable_async_all_gather", "true", f"unless {SYNCHRONOUS} names them"),
        ("xla_gpu_all_reduce_promotion", "true", "xla_disable_hlo_passes=all-reduce-promotion"),
    ],
)
def test_what_is_not_taken_is_refused_with_what_to_write(name: str, value: str, message: str):
    assert message in refusal(name, value)


def test_a_file_of_flags_is_not_read():
    with pytest.raises(ValueError, match=r"'flags\.txt' is not an option of XLA"):
        read_typed("flags.txt")


def test_chosen_options_without_an_effect_are_named_all_at_once():
    typed = "--xla_force_host_platform_device_count=8 --xla_cpu_enable_fast_math=true --xla_tpu_x=1"
    with pytest.raises(ValueError, match="has no effect here") as refused:
        read_typed(typed)
    assert str(refused.value).startswith(
        "xla_force_host_platform_device_count has no effect here. There are as many devices as the mesh has. Leave it "
    )
    assert str(refused.value).count("Leave it out.") == 3


def test_the_reason_without_an_effect_is_empty_for_others():
    assert "as many devices as the mesh" in reason_without_effect("xla_force_host_platform_device_count")
    assert not reason_without_effect(THRESHOLD)


def test_the_documentation_lists_each_option_with_its_default():
    page = (Path(__file__).parents[3] / "docs" / "explorer.md").read_text(encoding="utf-8")
    for option in OPTIONS.values():
        default = f"`{option.default}`" if option.default else "none"
        assert f"| `{option.name}` | {option.does} | {default} |" in page
