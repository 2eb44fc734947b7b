"""Compiler options for programs whose compilation takes longer than their execution."""

# Skip LLVM optimizations, and emit fusions directly as LLVM instead of via MLIR, all in one piece. Compiling then takes
# a quarter to a half of the CPU time; docs/performance.md says what stays the same.
COMPILER_OPTIONS: dict[str, str | bool] = {
    "xla_backend_optimization_level": "0",
    "xla_cpu_use_fusion_emitters": "False",
    "xla_cpu_parallel_codegen_split_count": "1",
}
