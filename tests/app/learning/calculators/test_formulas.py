"""What must hold for every input, and worked examples from the sources."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.calculators.formulas.checkpointing import checkpointing
from app.learning.calculators.formulas.impossible_inputs import Impossible
from app.learning.calculators.formulas.peak_memory import layer_activations
from app.learning.calculators.formulas.pipeline import pipeline
from app.learning.calculators.formulas.state import state_bytes
from app.learning.calculators.formulas.step_time import collective_time, scaling
from app.learning.calculators.formulas.traffic import gather_sent, reduce_sent
from app.learning.calculators.tables import BY_NAME, CALCULATORS, inputs

devices = st.sampled_from([2**n for n in range(12)])
sizes = st.integers(1, 10**13)
STRATEGIES = [value for value, _ in inputs.STRATEGY.options]


def of(name: str, **values: Any) -> dict[str, int | float]:
    """The outputs of a calculator with its defaults for the other inputs."""
    calculator = BY_NAME[name]
    assert values.keys() <= calculator.defaults.keys()
    return calculator.results({**calculator.defaults, **values})


@pytest.mark.parametrize("calculator", CALCULATORS, ids=lambda each: each.name)
def test_a_calculator_has_exactly_the_outputs_that_it_declares(calculator):
    assert calculator.results(calculator.defaults).keys() == {each.name for each in calculator.outputs}
    assert all(each.formula or each.name == "best_kept" for each in calculator.outputs)
    assert any(each.main for each in calculator.outputs)
    assert calculator.sources


def test_mixed_precision_adam_takes_16_bytes_for_each_parameter():
    """ZeRO, section 3.1: 2 + 2 + 12; figure 1: 7.5 billion parameters on 64 devices."""
    plain = {"parameters": 7_500_000_000, "devices": 64}
    whole = of("state", strategy="dp", **plain)
    assert whole["total"] == 16 * 7_500_000_000 + 4
    gigabytes = [
        round(of("state", strategy=each, **plain)["total"] / 1e9, 1) for each in ("dp", "zero1", "zero2", "fsdp")
    ]
    assert gigabytes == [120.0, 31.4, 16.6, 1.9]


@given(parameters=st.integers(4096, 10**12), n=devices, strategy=st.sampled_from(STRATEGIES))
def test_more_devices_never_store_more_and_shards_add_up_to_the_whole(parameters, n, strategy):
    values = {"parameters": parameters, "strategy": strategy, "group": 1, "tensor": 1}
    one, more = of("state", devices=n, **values), of("state", devices=2 * n, **values)
    assert more["total"] <= one["total"]
    whole = of("state", **(values | {"strategy": "dp", "devices": 1}))
    for name in ("parameter_bytes", "gradient_bytes", "master_bytes", "moment_bytes"):
        assert whole[name] / n <= one[name] <= whole[name]
    assert one["total"] == sum(
        one[name] for name in ("parameter_bytes", "gradient_bytes", "master_bytes", "moment_bytes")
    )


@given(parameters=st.integers(4096, 10**12), n=devices)
def test_each_stage_of_zero_stores_no_more_than_the_one_before(parameters, n):
    totals = [of("state", parameters=parameters, strategy=each, devices=n)["total"] for each in STRATEGIES[:4]]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize(("optimizer", "moments"), [("sgd", 0), ("momentum", 1), ("adam", 2)])
def test_what_each_optimizer_keeps(optimizer, moments):
    found = of("state", parameters=100, strategy="dp", optimizer=optimizer, master="no", moment_dtype="float32")
    assert found["moment_bytes"] == 400 * moments + (4 if optimizer == "adam" else 0)


@given(size=sizes, n=st.integers(1, 5000))
def test_gather_and_scatter_together_send_what_an_all_reduce_sends(size, n):
    assert 0 <= reduce_sent(size, n) - 2 * gather_sent(size, n) <= 1
    assert gather_sent(size, 1) == 0
    assert gather_sent(size, n) < size


@given(n=devices.filter(lambda n: n > 1))
def test_fsdp_sends_as_much_as_data_parallel_or_half_as_much_again(n):
    values = {"parameters": 2**20, "devices": n, "scalars": 0}
    dp = of("traffic", strategy="dp", **values)["sent"]
    assert of("traffic", strategy="fsdp", regather="no", **values)["sent"] == dp
    assert of("traffic", strategy="fsdp", regather="yes", **values)["sent"] == dp * 3 // 2
    assert of("traffic", strategy="zero1", **values)["sent"] == dp
    assert of("traffic", strategy="zero1", exchange="all_reduce", **values)["sent"] == dp * 3 // 2
    assert of("traffic", strategy="hsdp", group=n, regather="no", **values)["sent"] == dp
    assert of("traffic", strategy="hsdp", group=1, regather="no", **values)["sent"] == dp
    assert of("traffic", strategy="fsdp_tp", tensor=1, regather="no", **values)["sent"] == dp


@given(k=st.integers(1, 64))
def test_accumulation_repeats_only_what_each_microbatch_needs(k):
    dp = [of("traffic", strategy="dp", accumulation=each)["sent"] for each in (1, k)]
    assert dp[0] == dp[1]
    fsdp = [of("traffic", strategy="fsdp", accumulation=each, scalars=0)["sent"] for each in (1, k)]
    assert fsdp[1] == k * fsdp[0]


def _time(**values: Any) -> dict[str, int | float]:
    return of("communication-time", **values)


@given(size=st.integers(1, 10**12), n=devices)
def test_a_scatter_and_a_gather_take_as_long_as_an_all_reduce(size, n):
    for algorithm in ("ring", "tree"):
        found = {
            each: _time(collective=each, algorithm=algorithm, size=size, devices=n)["communication_s"]
            for each in ("all_gather", "reduce_scatter", "all_reduce")
        }
        assert found["all_reduce"] == pytest.approx(found["all_gather"] + found["reduce_scatter"])


@given(n=devices)
def test_more_devices_take_no_less_time_and_the_transfer_has_a_limit(n):
    values = {"collective": "all_reduce", "size": 10**9, "bandwidth": 1.0, "latency": 0.0}
    one, more = _time(devices=n, **values), _time(devices=2 * n, **values)
    assert one["communication_s"] <= more["communication_s"] < 2.0
    assert _time(devices=2**20, **values)["communication_s"] == pytest.approx(2.0, rel=1e-5)


@given(nodes=devices, node=devices, size=st.integers(1, 10**12))
def test_two_levels_of_equal_links_move_as_many_bytes_as_one_ring(nodes, node, size):
    same = {"bandwidth": 50.0, "node_bandwidth": 50.0, "size": size, "devices": nodes * node}
    two = _time(algorithm="two-level", node=node, **same)
    assert two["transfer_s"] == pytest.approx(_time(algorithm="ring", **same)["transfer_s"])


@given(work=st.floats(0, 1000), overlap=st.floats(0, 100), n=devices)
def test_overlap_hides_at_most_the_shorter_one(work, overlap, n):
    found = _time(compute=work, overlap=overlap, devices=n)
    assert found["overlapped_s"] <= found["step_s"] + 1e-12
    assert found["step_s"] <= found["sequential_s"] + 1e-12
    assert _time(compute=work, overlap=100, devices=n)["step_s"] == pytest.approx(found["overlapped_s"])
    assert _time(compute=work, overlap=0, devices=n)["step_s"] == pytest.approx(found["sequential_s"])


@given(n=devices)
def test_strong_scaling_is_never_better_than_weak_and_both_fall(n):
    values = {"compute": 100.0, "size": 10**9, "bandwidth": 100.0, "latency": 5.0}
    one, more = scaling(devices=n, **values), scaling(devices=2 * n, **values)
    assert one["strong"] <= one["weak"] + 1e-12
    assert more["strong"] < one["strong"]
    assert more["weak"] < one["weak"]
    assert scaling(devices=1, **values)["strong"] == scaling(devices=1, **values)["weak"] == 1


def test_weak_scaling_is_not_divided_by_the_devices():
    """Ten times as many devices, and the exchange takes a tenth of the compute: 0.909, and not 0.0909."""
    found = scaling(devices=10**6, compute=1000.0, size=5 * 10**9, bandwidth=100.0, latency=0.0)
    assert found["weak"] == pytest.approx(1 / 1.1, rel=1e-4)


@given(stages=st.integers(1, 64), microbatches=st.integers(1, 4096), per_stage=st.integers(1, 8))
def test_a_bubble_shrinks_with_microbatches_and_is_gone_with_one_stage(stages, microbatches, per_stage):
    values = {"stages": stages, "layers": stages * per_stage, "chunks": 1}
    for schedule in ("gpipe", "1f1b"):
        found = pipeline(schedule=schedule, microbatches=microbatches, **values)
        assert found["bubble"] == pytest.approx(1 - found["efficiency"])
        assert found["units"] == microbatches + stages - 1
        assert pipeline(schedule=schedule, microbatches=microbatches + 1, **values)["bubble"] <= found["bubble"]
        assert found["live"] <= microbatches
    assert pipeline(schedule="gpipe", stages=1, layers=1, microbatches=1, chunks=1)["bubble"] == 0
    one = pipeline(schedule="interleaved", microbatches=stages * 4, **values)
    assert one["bubble"] == pipeline(schedule="1f1b", microbatches=stages * 4, **values)["bubble"]


@given(stages=st.integers(2, 16), chunks=st.integers(2, 8), rounds=st.integers(1, 16))
def test_interleaving_divides_idle_time_by_the_chunks(stages, chunks, rounds):
    values = {"stages": stages, "layers": stages * chunks, "microbatches": stages * rounds}
    plain = pipeline(schedule="1f1b", chunks=1, **values)
    found = pipeline(schedule="interleaved", chunks=chunks, **values)
    assert found["overhead"] == pytest.approx(plain["overhead"] / chunks)
    assert found["live"] >= plain["live"]


@given(layers=st.integers(1, 300), segments=st.integers(1, 300), factor=st.integers(1, 40))
def test_no_number_of_segments_is_better_than_the_best_one(layers, segments, factor):
    if segments > layers:
        with pytest.raises(Impossible, match="have at most"):
            checkpointing(layers=layers, segments=segments, layer_bytes=factor, boundary_bytes=1)
        return
    found = checkpointing(layers=layers, segments=segments, layer_bytes=1000 * factor, boundary_bytes=1000)
    assert found["best_kept"] <= found["kept"]


def test_equal_layers_have_the_root_of_their_number():
    found = checkpointing(layers=64, segments=8, layer_bytes=10, boundary_bytes=10)
    assert (found["best_segments"], found["kept"], found["ratio"]) == (8, 160, 0.25)


def test_a_layer_of_the_paper():
    """Korthikanti et al., section 4.2.1: GPT-3 has 5 a s / h = 80; that is 70 % of all activations."""
    kept, _ = layer_activations(1, 2048, 12288, 96, "nothing")
    assert kept == 2048 * 12288 * (34 + 80)
    again, working = layer_activations(1, 2048, 12288, 96, "attention")
    assert (again, working) == (2048 * 12288 * 34, kept)
    assert layer_activations(1, 2048, 12288, 96, "everything")[0] == 2048 * 12288 * 2


@given(n=devices, rows=st.integers(1, 64))
def test_peak_memory_falls_with_devices_and_grows_with_rows(n, rows):
    peak = [of("peak-memory", devices=each, rows=rows)["peak"] for each in (2 * n, 4 * n)]
    assert peak[1] <= peak[0]
    assert of("peak-memory", devices=n, rows=rows + 1)["peak"] > of("peak-memory", devices=n, rows=rows)["peak"]
    orders = [of("peak-memory", recompute=each, rows=rows)["peak"] for each in ("everything", "attention", "nothing")]
    assert orders == sorted(orders)
    whole = [of("peak-memory", gathered=each, devices=2 * n)["peak"] for each in ("one", "two", "all")]
    assert whole == sorted(whole)


@given(rows=st.integers(1, 64), data=devices, fsdp=devices, k=st.integers(1, 16))
def test_the_largest_batch_fits_and_one_row_more_does_not(rows, data, fsdp, k):
    values = {"data": data, "fsdp": fsdp, "accumulation": k, "batch": rows * data * fsdp * k}
    plan = of("batch-plan", **values)
    assert plan["microbatch"] == rows
    most = int(plan["most"])
    at_most = of("batch-plan", **(values | {"batch": most * data * fsdp * k}))
    above = of("batch-plan", **(values | {"batch": (most + 1) * data * fsdp * k}))
    assert (at_most["fits"], above["fits"]) == (1, 0)
    assert above["used"] > 80 * 2**30 >= at_most["used"]
    fewest = of("batch-plan", **(values | {"accumulation": int(plan["needed"])}))
    assert fewest["fits"] == 1
    assert fewest["most_global"] >= values["batch"]


@given(
    noise=st.floats(1, 1e9),
    seconds=st.floats(1e-9, 1e3),
    fixed=st.floats(1e-6, 1e3),
    factor=st.floats(0.01, 100).filter(lambda each: abs(each - 1) > 1e-3),
)
def test_no_batch_is_faster_than_b_star(noise, seconds, fixed, factor):
    found = of("critical-batch", noise=noise, row_seconds=seconds, fixed_seconds=fixed)
    other = found["best"] * factor
    assert (1 + noise / other) * (seconds * other + fixed) >= found["time_factor"] * (1 - 1e-9)


def test_fsdp_in_bfloat16_is_compute_bound_from_peak_over_bandwidth_on():
    """The Scaling Book: tokens on a device > C / W. A ring of n devices sends (n - 1) / n of it."""
    found = of("critical-batch", peak=459.0, bandwidth=180.0, devices=2**20)
    assert found["least_tokens"] == pytest.approx(459e12 / 180e9, rel=1e-5)
    assert of("critical-batch", devices=1)["least_tokens"] == 0
    assert math.isinf(of("critical-batch", devices=1)["ratio"])


@given(n=devices, tokens=st.integers(1, 4096))
def test_devices_share_the_products_and_recomputation_is_one_more_forward_pass(n, tokens):
    values = {"weights": 10**6, "tokens": tokens * n, "layers": 0}
    one, all_of_them = of("flops", devices=n, **values), of("flops", devices=1, **values)
    assert one["flops"] * n == all_of_them["flops"] == 6 * 10**6 * tokens * n
    again = of("flops", devices=n, recompute="everything", **values)
    assert again["flops"] * 6 == one["flops"] * 8


def test_attention_of_palm():
    """PaLM, appendix B: 6 N + 12 L H Q T for a token."""
    found = of("flops", weights=1000, tokens=512, devices=1, layers=3, attention_width=64, sequence=128)
    assert found["flops"] == 512 * (6 * 1000 + 12 * 3 * 64 * 128)


@pytest.mark.parametrize(
    ("name", "values", "field", "reason"),
    [
        (
            "state",
            {"strategy": "hsdp", "devices": 8, "group": 3},
            "group",
            "3 does not divide the number of devices (8)",
        ),
        ("state", {"strategy": "fsdp_tp", "devices": 8, "tensor": 16}, "tensor", "16 does not divide"),
        ("state", {"parameters": 4}, "devices", "8 devices cannot share 4 parameters"),
        ("traffic", {"parameters": 4}, "devices", "8 devices cannot share 4 parameters"),
        ("traffic", {"strategy": "fsdp_tp", "tensor": 8, "hidden": 100}, "tensor", "the hidden size (100)"),
        ("peak-memory", {"heads": 30}, "heads", "30 does not divide the hidden size (4,096)"),
        ("peak-memory", {"parameters": 16}, "layers", "32 layers cannot share 16 parameters"),
        ("batch-plan", {"batch": 8}, "batch", "16 devices need at least 16 rows"),
        ("batch-plan", {"batch": 1000}, "batch", "does not divide 1,000 rows"),
        ("batch-plan", {"fixed": 80}, "fixed", "This leaves nothing of the 80 GiB"),
        ("batch-plan", {"row_bytes": 10**12}, "row_bytes", "One row does not fit"),
        ("checkpointing", {"segments": 33}, "segments", "32 layers have at most 32 segments"),
        ("checkpointing", {"boundary_bytes": 10**10}, "boundary_bytes", "part of what its backward pass needs"),
        ("communication-time", {"algorithm": "tree", "devices": 6}, "devices", "needs a power of two"),
        ("communication-time", {"algorithm": "two-level", "devices": 12}, "node", "8 does not divide"),
        ("flops", {"tokens": 12}, "devices", "8 does not divide the 12 tokens"),
        ("flops", {"first_weights": 10**13}, "first_weights", "weights in all"),
        ("flops", {"tokens": 8}, "sequence", "cannot be longer than all 8 tokens"),
        ("pipeline-bubble", {"stages": 64}, "stages", "64 stages need at least 64 layers"),
        ("pipeline-bubble", {"stages": 6}, "stages", "32 layers cannot be divided equally into 6 stages"),
        ("pipeline-bubble", {"schedule": "interleaved", "chunks": 3}, "chunks", "8 stages of 3 chunks"),
        (
            "pipeline-bubble",
            {"schedule": "interleaved", "microbatches": 9},
            "microbatches",
            "a multiple of the 8 stages",
        ),
    ],
)
def test_impossible_inputs_are_refused_at_their_field(name, values, field, reason):
    with pytest.raises(Impossible) as refused:
        of(name, **values)
    assert refused.value.field == field
    assert reason in str(refused.value)
    assert field in BY_NAME[name].defaults


def test_the_formulas_know_no_unnamed_input():
    with pytest.raises(TypeError):
        state_bytes(parameters=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        collective_time(collective="all_gather")  # type: ignore[call-arg]
