"""expect: accepted or rejected. Throws JAX's backend away and starts another, with devices of its own choice."""

import os

import jax
import jax.extend

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"
jax.extend.backend.clear_backends()
try:
    jax.config.update("jax_num_cpu_devices", 16)
except (RuntimeError, AttributeError):
    pass


def add_one(x):
    return x + 1
