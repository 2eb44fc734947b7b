"""shard_map whose in_specs ask for w whole, so that it is gathered on the way in; the body has nothing left to do."""

import jax
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    return jax.shard_map(lambda whole: whole, mesh=mesh, in_specs=P(), out_specs=P())(w)
