"""The forward pass with jax.vjp, and the gradient of the loss with respect to the logits by its formula."""

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

    graphdef, params, rest = nnx.split(model, nnx.Param, ...)

    def forward(params):
        model = nnx.merge(graphdef, params, rest, copy=True)
        return model(x), (model.norm.mean[...], model.norm.var[...])

    logits, pull, stats = jax.vjp(forward, params, has_aux=True)
    logs = jax.nn.log_softmax(logits)
    loss = -jnp.take_along_axis(logs, labels[:, None], axis=-1).mean()
    (grads,) = pull((jnp.exp(logs) - jax.nn.one_hot(labels, CLASSES)) / len(labels))
    return loss, jnp.mean(logits.argmax(-1) == labels), nnx.to_pure_dict(grads), stats
