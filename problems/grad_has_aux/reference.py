"""nnx.value_and_grad with has_aux: the loss function returns the accuracy beside the loss."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

HIDDEN, CLASSES = 16, 5


class Classifier(nnx.Module):
    def __init__(self, features: int, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(features, HIDDEN, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(HIDDEN, momentum=0.75, rngs=rngs)
        self.head = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(nnx.relu(self.norm(self.hidden(x))))


def loss_accuracy_grads(
    seed: int, x: jax.Array, labels: jax.Array
) -> tuple[jax.Array, jax.Array, dict[str, Any], tuple[jax.Array, jax.Array]]:
    """Apply a new model to a batch, once."""
    model = Classifier(x.shape[-1], nnx.Rngs(seed))

    def loss_fn(model: Classifier) -> tuple[jax.Array, jax.Array]:
        logits = model(x)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, jnp.mean(logits.argmax(-1) == labels)

    (loss, accuracy), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    return loss, accuracy, nnx.to_pure_dict(grads), (model.norm.mean[...], model.norm.var[...])
