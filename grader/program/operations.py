"""The closed list of operations that an exported program may contain.

For operations with fixed shapes, MLIR checks the result's shape when it reads the program, and XLA does when it
compiles, so a result is exactly as large as what is computed. Operations that are not listed have no such check (custom
calls), take sizes from values (dynamic shapes), or reach the host.
"""

_STABLEHLO = """
    abs add all_gather all_reduce all_to_all and atan2 batch_norm_grad batch_norm_inference batch_norm_training
    bitcast_convert broadcast_in_dim case cbrt ceil cholesky clamp collective_permute compare complex
    composite concatenate constant convert convolution cosine count_leading_zeros custom_call divide dot_general
    dynamic_slice dynamic_update_slice exponential exponential_minus_one fft floor gather if imag iota is_finite log
    log_plus_one logistic maximum minimum multiply negate not optimization_barrier or pad partition_id popcnt power real
    reduce reduce_precision reduce_scatter reduce_window remainder replica_id reshape return reverse rng_bit_generator
    round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter shift_left shift_right_arithmetic
    shift_right_logical sign sine slice sort sqrt subtract tan tanh transpose triangular_solve while xor
""".split()
_SHARDY = "manual_computation mesh named_computation propagation_barrier reshard return sharding_constraint".split()
OPERATIONS = frozenset(
    [f"func.{name}" for name in ("call", "func", "return")]
    + [f"stablehlo.{name}" for name in _STABLEHLO]
    + [f"sdy.{name}" for name in _SHARDY]
)
