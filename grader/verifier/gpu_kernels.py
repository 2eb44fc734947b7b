"""Pallas kernels in a program for GPUs: their calls stay, and the kernels themselves are left out.

XLA would read a kernel as MLIR's bytecode, which it trusts, and turn it into machine code. Neither the schedule nor the
memory of the program depends on it.
"""

from jax.extend.mlir import ir

from grader.confined import private_jax
from grader.confined.artifact import GPU_KERNELS

# The attribute with the kernel, whose name depends on the release of JAX.
_KERNEL = ("mhlo.backend_config", "backend_config")


def without_gpu_kernels(text: str) -> str:
    """Give each call of a kernel a target that XLA does not know, and drop the kernel.

    Raises:
      Exception: of any type, because the module may be hostile.
    """

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "stablehlo.custom_call":
            target = GPU_KERNELS.get(ir.StringAttr(operation.attributes["call_target_name"]).value)
            if target is not None:
                operation.attributes["call_target_name"] = ir.StringAttr.get(target)
                for name in _KERNEL:
                    if name in operation.attributes:
                        operation.attributes[name] = ir.DictAttr.get({})
        return ir.WalkResult.ADVANCE

    with private_jax.lowering_context():
        module = ir.Module.parse(text)
        module.operation.walk(visit)
        module.operation.verify()
        return str(module.operation.get_asm(enable_debug_info=True))
