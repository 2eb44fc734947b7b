"""Solutions of one exercise, by people who did not copy, in very different styles.

The exercise: train a linear model with two layers on a batch, with the mean squared error and plain gradient descent.
"""

STARTER = '''
import jax
import jax.numpy as jnp


def train(params, x, y, lr, steps):
    """Return the new parameters and the list of losses."""
    raise NotImplementedError
'''

SOLUTIONS = [
    '''
import jax
import jax.numpy as jnp


def forward(params, x):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def train(params, x, y, lr, steps):
    """Plain gradient descent."""
    losses = []
    for _ in range(steps):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
        losses.append(loss)
    return params, losses
''',
    """
import jax
import jax.numpy as jnp
from jax import lax


def train(params, x, y, lr, steps):
    def one(state, _):
        def objective(p):
            out = jnp.maximum(jnp.dot(x, p["w1"]) + p["b1"], 0.0)
            out = jnp.dot(out, p["w2"]) + p["b2"]
            return jnp.square(out - y).mean()

        value, slope = jax.value_and_grad(objective)(state)
        return {name: state[name] - lr * slope[name] for name in state}, value

    final, values = lax.scan(one, params, None, length=steps)
    return final, list(values)
""",
    """
import jax.numpy as jnp


def train(params, x, y, lr, steps):
    w1, b1, w2, b2 = (params[k] for k in ("w1", "b1", "w2", "b2"))
    history = []
    n = y.size
    while len(history) < steps:
        pre = x @ w1 + b1
        act = jnp.where(pre > 0, pre, 0)
        error = act @ w2 + b2 - y
        history.append((error * error).sum() / n)
        d_out = 2 * error / n
        d_pre = (d_out @ w2.T) * (pre > 0)
        w2 = w2 - lr * act.T @ d_out
        b2 = b2 - lr * d_out.sum(axis=0)
        w1 = w1 - lr * x.T @ d_pre
        b1 = b1 - lr * d_pre.sum(axis=0)
    return dict(w1=w1, b1=b1, w2=w2, b2=b2), history
""",
    """
import functools

import jax
import jax.numpy as jnp
import optax


class Model:
    def __init__(self, params):
        self.params = params

    def __call__(self, x):
        for layer in ("1", "2"):
            x = jnp.einsum("bi,io->bo", x, self.params["w" + layer]) + self.params["b" + layer]
            if layer == "1":
                x = jax.nn.relu(x)
        return x


@functools.partial(jax.jit, static_argnums=4)
def _update(params, opt_state, x, y, optimizer):
    mse = lambda p: optax.squared_error(Model(p)(x), y).mean()
    loss, grads = jax.value_and_grad(mse)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, x, y, lr, steps):
    optimizer = optax.sgd(lr)
    opt_state, losses = optimizer.init(params), []
    for step in range(steps):
        params, opt_state, loss = _update(params, opt_state, x, y, optimizer)
        losses += [float(loss)]
    return params, losses
""",
    """
from flax import nnx
import jax.numpy as jnp
import optax


class Net(nnx.Module):
    def __init__(self, p):
        self.first = nnx.Linear(*p["w1"].shape, rngs=nnx.Rngs(0))
        self.second = nnx.Linear(*p["w2"].shape, rngs=nnx.Rngs(0))
        for layer, number in ((self.first, 1), (self.second, 2)):
            layer.kernel.value, layer.bias.value = p[f"w{number}"], p[f"b{number}"]

    def __call__(self, batch):
        return self.second(nnx.relu(self.first(batch)))


def train(params, x, y, lr, steps):
    net = Net(params)
    optimizer = nnx.Optimizer(net, optax.sgd(lr), wrt=nnx.Param)
    losses = []
    for _ in range(steps):
        loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(net)
        optimizer.update(net, grads)
        losses.append(loss)
    names = {"w1": net.first.kernel, "b1": net.first.bias, "w2": net.second.kernel, "b2": net.second.bias}
    return {name: leaf.value for name, leaf in names.items()}, losses
""",
    """
import jax
from jax.flatten_util import ravel_pytree


def train(params, x, y, lr, steps):
    theta, rebuild = ravel_pytree(params)

    def cost(vector):
        p = rebuild(vector)
        z = jax.vmap(lambda row: jax.nn.relu(row @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])(x)
        return ((z - y) ** 2).mean()

    costs = []
    gradient = jax.grad(cost)
    for index in range(steps):
        costs.append(cost(theta))
        theta = theta - lr * gradient(theta)
    return rebuild(theta), costs
""",
    """
import jax
import jax.numpy as jnp


def predict(w1, b1, w2, b2, x):
    return jnp.matmul(jnp.clip(jnp.matmul(x, w1) + b1, 0, None), w2) + b2


def error(w1, b1, w2, b2, x, y):
    residual = predict(w1, b1, w2, b2, x) - y
    return jnp.vdot(residual, residual) / residual.size


def train(params, x, y, lr, steps):
    leaves = [params["w1"], params["b1"], params["w2"], params["b2"]]
    derivative = jax.jit(jax.value_and_grad(error, argnums=(0, 1, 2, 3)))
    record = jnp.zeros(steps)
    for i in range(steps):
        value, directions = derivative(*leaves, x, y)
        record = record.at[i].set(value)
        leaves = [leaf - lr * direction for leaf, direction in zip(leaves, directions)]
    return dict(zip(["w1", "b1", "w2", "b2"], leaves)), record.tolist()
""",
]
