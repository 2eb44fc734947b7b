"""The running statistics moved twice, so the batch went through the model twice. Everything else is right."""

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
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    accuracy = jnp.mean(model(x).argmax(-1) == labels)
    return loss, accuracy, nnx.to_pure_dict(grads), (model.norm.mean[...], model.norm.var[...])
