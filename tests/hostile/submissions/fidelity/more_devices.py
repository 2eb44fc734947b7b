"""expect: accepted. Asks for a thousand devices when it is imported, by the flags that JAX reads."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=1000"

import jax

print("devices:", len(jax.devices()))
if len(jax.devices()) != 2:
    print("CROSSED: has", len(jax.devices()), "devices")


def add_one(x):
    return x + 1
