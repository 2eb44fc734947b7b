"""expect: rejected/error|killed; wall: seccomp. Starts JAX's own coordination service, a server on a port."""

import jax

jax.distributed.initialize("127.0.0.1:9911", num_processes=1, process_id=0, initialization_timeout=1)
print("CROSSED: a coordination service is up")


def add_one(x):
    return x + 1
