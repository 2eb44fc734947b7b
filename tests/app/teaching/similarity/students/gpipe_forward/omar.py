from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages = mesh.shape["stage"]
    padded = jnp.pad(microbatches, ((0, stages - 1), (0, 0), (0, 0)))
    edges = [(sender, sender + 1) for sender in range(stages - 1)]

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P())
    def forward(own, stream):
        stage = jax.lax.axis_index("stage")
        is_last = (stage == stages - 1).astype(stream.dtype)

        def clock(belt, fresh):
            x = jax.lax.select(stage == 0, fresh, belt)
            for index in range(own.shape[0]):
                x = jnp.tanh(x @ own[index])
            return jax.lax.ppermute(x, "stage", edges), x * is_last

        empty = jax.lax.pcast(jnp.zeros(stream.shape[1:], stream.dtype), "stage", to="varying")
        _, outputs = jax.lax.scan(clock, empty, jax.lax.pcast(stream, "stage", to="varying"))
        return jax.lax.psum(outputs[stages - 1 :], "stage")

    return forward(layers, padded)
