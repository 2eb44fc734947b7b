"""Serialize exported programs for the verifier, with their module as text instead of bytecode.

A verifier reads programs from strangers. MLIR checks text as it reads it, but trusts the sizes and offsets in bytecode:
a few changed bytes make its reader write past the end of its memory.
"""

import dataclasses

import jax

# XLA compiles this custom call for chips, and not for CPUs.
ONLY_ON_CHIPS = "ragged_all_to_all"
# The target of a Pallas kernel in a program that is lowered for TPUs.
TPU_KERNEL = "tpu_custom_call"
# The target of `jax.lax.approx_max_k`, which XLA replaces by operations of its own.
APPROX_TOP_K = "ApproxTopK"
# Marks an array that lives in the host's memory, or is copied back from it.
_PLACEMENT = "annotate_device_placement"
# The targets of Pallas kernels in a program that is lowered for GPUs, and the names that the compiler for GPUs gets
# instead. It has none of these names, so it reads no kernel, and stops only after it has scheduled the program.
GPU_KERNELS = {"__gpu$xla.gpu.triton": "pallas.triton", "mosaic_gpu_v2": "pallas.mosaic_gpu"}
# What JAX lowers to a `custom_partitioning` for GPUs: the attention of cuDNN with a bias or dropout, in 8 bits, and the
# gradient of each; and products of scaled blocks.
PARTITIONED_ON_GPUS = frozenset(
    {
        "__cudnn$fmhaSoftmax",
        "__cudnn$fmhaSoftmaxBackward",
        "__cudnn$fmhaSoftmaxDropout",
        "__cudnn$fmhaSoftmaxDropoutBackward",
        "__cudnn$fmhaScaleBiasSoftmax",
        "__cudnn$fmhaScaleBiasSoftmaxBackward",
        "__cudnn$fmhaScaleBiasSoftmaxDropout",
        "__cudnn$fmhaScaleBiasSoftmaxDropoutBackward",
        "__cudnn$fmhaSoftmaxF8",
        "__cudnn$fmhaSoftmaxBackwardF8",
        "__op$block_scaled_dot",
    }
)
# What JAX calls in a program that it lowers for chips: NVIDIA's libraries, and operations that XLA expands for TPUs. An
# export may contain each of them, and none is ever run here. Source: the targets that jax/_src/export/_export.py
# guarantees to be stable, and those above.
CHIP_CALLS = {
    "cuda": frozenset(
        {
            _PLACEMENT,
            "cu_lu_pivots_to_permutation",
            "cu_threefry2x32_ffi",
            "cusolver_geqrf_ffi",
            "cusolver_gesvd_ffi",
            "cusolver_gesvdj_ffi",
            "cusolver_getrf_ffi",
            "cusolver_orgqr_ffi",
            "cusolver_potrf_ffi",
            "cusolver_syevd_ffi",
            "cusolver_sytrd_ffi",
            "cusparse_gtsv2_ffi",
        }
    )
    | PARTITIONED_ON_GPUS
    | set(GPU_KERNELS.values()),
    "tpu": frozenset(
        {_PLACEMENT, TPU_KERNEL, "Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"}
    ),
}
# The calls that JAX must not refuse to export, by platform.
SERIALIZED = tuple(map(jax.export.DisabledSafetyCheck.custom_call, (ONLY_ON_CHIPS, APPROX_TOP_K)))
SERIALIZED_FOR_GPUS = tuple(
    map(
        jax.export.DisabledSafetyCheck.custom_call,
        (ONLY_ON_CHIPS, APPROX_TOP_K, *GPU_KERNELS, *sorted(PARTITIONED_ON_GPUS)),
    )
)


def artifact_of(exported: jax.export.Exported) -> bytes:
    """Serialize an exported program, without the list of checks that JAX left out: the verifier checks every call."""
    text = exported.mlir_module().encode()
    return bytes(dataclasses.replace(exported, mlir_module_serialized=text, disabled_safety_checks=()).serialize())


def read_exported(artifact: bytes) -> tuple[jax.export.Exported, str]:
    """Return the exported program, which JAX cannot use without its module, and the text of that module.

    Raises:
      Exception: of any type, because the bytes may be hostile.
    """
    exported = jax.export.deserialize(bytearray(artifact))
    # Decoding fails for bytecode, which is not UTF-8.
    return exported, bytes(exported.mlir_module_serialized).decode()
