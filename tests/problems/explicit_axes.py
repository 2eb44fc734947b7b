"""What JAX does with arrays on Explicit axes, which several statements describe.

`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def measure(unit: str) -> dict[str, str]:
    """The statements about Explicit axes: the name of the error that each piece of code raises, or `fine`."""
    mesh = jax.make_mesh((8,), ("x",))
    split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
    rows, bias = jax.device_put(jnp.ones((16, 8)), split), jax.device_put(jnp.ones(8), split)
    columns, layers = jax.device_put(jnp.ones((4, 8)), NamedSharding(mesh, P(None, "x"))), jnp.ones((8, 4, 4))
    square = jax.device_put(jnp.ones((8, 8)), split)

    def outcome(function: Callable[..., object], *args: jax.Array) -> str:
        try:
            function(*args)
        except Exception as error:  # the name of it is the answer
            return type(error).__name__
        return "fine"

    def scanned(layers: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda h, w: (h @ w, None), jnp.ones((4, 4)), layers)[0]

    def copied(mesh: Mesh) -> Callable[[jax.Array], jax.Array]:
        return jax.shard_map(lambda part: part, mesh=mesh, in_specs=P("x"), out_specs=P("x"))

    return {
        "axis types of jax.make_mesh": mesh.axis_types[0].name,
        "axis types of Mesh": Mesh(jax.devices(), ("x",)).axis_types[0].name,
        "a constraint with a split spec": outcome(jax.jit(lambda a: jax.lax.with_sharding_constraint(a, split)), bias),
        "split rows plus a split bias": outcome(jnp.add, rows, bias),
        "a product over a split dimension": outcome(jnp.matmul, columns, square),
        "an index into split layers": outcome(lambda a: a[0], jax.device_put(layers, split)),
        "a scan over split layers": outcome(scanned, jax.device_put(layers, split)),
        "shard_map of an array with another sharding": outcome(copied(mesh), jax.device_put(rows, whole)),
        "the same on Auto axes": outcome(copied(Mesh(jax.devices(), ("x",))), jnp.ones((16, 8))),
    }
