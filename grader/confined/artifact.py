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
# The attention of cuDNN: with a bias or dropout, in 8 bits, and the gradient of each.
CUDNN_ATTENTION = frozenset(
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
    }
)
# What JAX calls in a program that it lowers for chips: NVIDIA's libraries, and operations that XLA expands for TPUs. An
# export may contain each of them, and none is ever run here. Source: the targets that jax/_src/export/_export.py
# guarantees to be stable, and those of cuDNN's attention.
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
    | CUDNN_ATTENTION,
    "tpu": frozenset(
        {_PLACEMENT, TPU_KERNEL, "Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"}
    ),
}
SERIALIZED = tuple(map(jax.export.DisabledSafetyCheck.custom_call, (ONLY_ON_CHIPS, APPROX_TOP_K)))


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
