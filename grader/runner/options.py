"""Compiler options for programs whose compilation takes longer than their execution."""

# No LLVM optimizations, and fusions emitted as LLVM at once rather than by way of MLIR, all in one piece. Compiling
# takes a quarter to a half of the CPU time (docs/performance.md, with what stays the same).
COMPILER_OPTIONS: dict[str, str | bool] = {
    "xla_backend_optimization_level": "0",
    "xla_cpu_use_fusion_emitters": "False",
    "xla_cpu_parallel_codegen_split_count": "1",
}
