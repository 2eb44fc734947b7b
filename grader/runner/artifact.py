"""Exported programs on their way from a runner to a verifier: with their module as text instead of bytecode.

A verifier reads them from strangers. MLIR checks the text that it reads. Of its bytecode it believes sizes and offsets:
with a few changed bytes, its reader writes past the end of its memory.
"""

import dataclasses

import jax


def artifact_of(exported: jax.export.Exported) -> bytes:
    """The bytes of an exported program."""
    text = exported.mlir_module().encode()
    return bytes(dataclasses.replace(exported, mlir_module_serialized=text).serialize())


def read_exported(artifact: bytes) -> tuple[jax.export.Exported, str]:
    """The exported program, which JAX cannot use as it is, and the text of its module.

    Raises:
      Exception: of any kind, because the bytes may be hostile.
    """
    exported = jax.export.deserialize(bytearray(artifact))
    # Bytecode is not UTF-8.
    return exported, bytes(exported.mlir_module_serialized).decode()
