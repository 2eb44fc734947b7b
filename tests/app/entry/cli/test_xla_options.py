import pytest

from app.core.start_errors import StartRefused
from app.entry.cli.xla_options import read_xla_options

A, B = "xla_gpu_enable_pipelined_all_gather", "xla_gpu_enable_latency_hiding_scheduler"
ONE, OTHER = ("f.py", "x = 1"), ("g.py", "x = 2")


@pytest.mark.parametrize(
    ("sources", "against", "expected"),
    [
        ([ONE], None, ([ONE], [{A: "true"}])),
        ([ONE, OTHER], None, ([ONE, OTHER], [{A: "true"}] * 2)),
        ([ONE, OTHER], [f"{B}=1"], ([ONE, OTHER], [{A: "true"}, {B: "true"}])),
        ([ONE], [f"--{B}=false"], ([ONE, ONE], [{A: "true"}, {B: "false"}])),
    ],
    ids=["one", "both alike", "both", "the same file"],
)
def test_each_version_has_its_options(sources, against, expected):
    assert read_xla_options(sources, [f"{A}=true"], against) == expected


def test_what_is_not_taken_is_refused_with_the_place_of_the_list():
    with pytest.raises(
        StartRefused, match="--xla-option: xla_gpu_enable_pipelined_all_gather is set to '2'"
    ) as refused:
        read_xla_options([ONE], [f"{A}=2"], None)
    assert "docs/explorer.md" in refused.value.remedy
