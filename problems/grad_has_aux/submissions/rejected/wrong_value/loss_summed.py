"""The loss is the sum over the rows, and the gradients are those of the sum. It has to be the mean."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

HIDDEN, CLASSES = 16, 5


class Classifier(nnx.Module):
    def __init__(self, features, rngs):
        self.hidden = nnx.Linear(features, HIDDEN, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(HIDDEN, momentum=0.75, rngs=rngs)
        self.head = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.norm(self.hidden(x))))


def loss_accuracy_grads(seed, x, labels):
    model = Classifier(x.shape[-1], nnx.Rngs(seed))

    def loss_fn(model):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).sum(), jnp.mean(logits.argmax(-1) == labels)

    (loss, accuracy), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    return loss, accuracy, nnx.to_pure_dict(grads), (model.norm.mean[...], model.norm.var[...])
