"""expect: rejected/error|killed; wall: seccomp. Starts JAX's own coordination service, a server on a port."""

from jax._src import distributed

# The public function does nothing here, because the one process has all devices.
distributed.global_state.initialize("127.0.0.1:9911", num_processes=1, process_id=0, initialization_timeout=1)
print("CROSSED: a coordination service is up")


def add_one(x):
    return x + 1
