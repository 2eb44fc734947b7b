import jax


def fsdp_step(seed: float, x: jax.Array, y: jax.Array, num_shards: float, lr: float) -> jax.Array:
    """Take one training step of a linear model, as every device of an FSDP job together would.

    Args:
      seed: seed of the model's weights; cast it to int.
      x: the global batch, (N, D_in).
      y: the targets, (N, D_out).
      num_shards: how many devices would share the parameters; cast it to int. It changes no number.
      lr: learning rate of plain SGD.
    Returns:
      The loss before the update and the loss after it, shape (2,), float32.
    """
    raise NotImplementedError("Follow the seven rules of the Problem section.")
