"""The numbers of the lesson, measured from the compiled references of problems."""

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.errors import error_of
from tests.lessons.references import accepted, reference

_DP, _ZERO1 = "dp_step", "zero1_opt_state"
_FSDP, _AUTO = "fsdp_shard_map_step", "fsdp_auto_step"
_FLOAT32_BYTES = 4


def _sent(program) -> int:
    return program.gather.sent + program.scatter.sent + program.reduce.sent


def devices():
    """The devices of the mesh."""
    return reference(_DP).measured.facts.devices, "devices"


def parameters():
    """The parameters of the network that all references train."""
    (whole,) = {reference(problem).whole("params/") for problem in (_DP, _ZERO1, _FSDP, _AUTO)}
    return whole // _FLOAT32_BYTES, "parameters"


def params_bytes():
    """The bytes of the whole parameters."""
    return reference(_DP).whole("params/"), "bytes"


def moments_bytes():
    """The bytes of both of Adam's moments, whole."""
    return _moments(reference(_DP).whole), "bytes"


def _moments(bytes_of) -> int:
    return bytes_of("mu/") + bytes_of("nu/")


def sgd_values():
    """The elements of the state of optax.sgd without momentum, for 100 parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(optax.sgd(0.1).init(jnp.zeros(100)))), "values"


def tree_map_error():
    """The error of jax.tree_map."""
    return error_of(lambda: jax.tree_map, "module 'jax' has no attribute 'tree_map'"), ""


def adam_times():
    """The elements of the state of optax.adam for 100 parameters, without the count, over the parameters."""
    state = optax.adam(1e-3).init(jnp.zeros(100))
    return (sum(leaf.size for leaf in jax.tree.leaves(state)) - 1) // 100, "times"


def dp_state():
    """The state on one device with data parallelism."""
    return reference(_DP).state, "bytes"


def zero1_state():
    """The state on one device with ZeRO-1."""
    return reference(_ZERO1).state, "bytes"


def zero1_moments():
    """Both moments on one device with ZeRO-1."""
    return _moments(reference(_ZERO1).held), "bytes"


def fsdp_state():
    """The state on one device with FSDP in shard_map."""
    return reference(_FSDP).state, "bytes"


def fsdp_params():
    """The parameters on one device with FSDP."""
    return reference(_FSDP).held("params/"), "bytes"


def _devices_of_moments(params) -> int:
    state, _ = optax.adam(1e-3).init(params)
    (count,) = {len(moment.devices()) for moment in (state.mu, state.nu)}
    return count


def late_devices():
    """The devices with a shard of the moments of optax.adam, for parameters that are split over a mesh."""
    split = NamedSharding(Mesh(jax.devices(), ("x",)), P("x"))
    return _devices_of_moments(jax.device_put(jnp.zeros((16, 8)), split)), "devices"


def early_devices():
    """The devices with moments of optax.adam, for parameters that were not placed."""
    return _devices_of_moments(jnp.zeros((16, 8))), "device"


def fsdp_temporaries():
    """The temporary buffers of one device in a step of FSDP in shard_map."""
    return reference(_FSDP).temporaries, "bytes"


def fsdp_total():
    """The state on all devices together with FSDP in shard_map."""
    measured = reference(_FSDP).measured
    return sum(measured.state_bytes(device) for device in range(measured.facts.devices)), "bytes"


def count_bytes():
    """The bytes of the step count on one device with FSDP."""
    return reference(_FSDP).held("count"), "bytes"


def dp_sent():
    """What one device sends around a ring in a step of data parallelism."""
    return _sent(reference(_DP)), "bytes"


def zero1_sent():
    """What one device sends around a ring in a step of ZeRO-1 by jit."""
    return _sent(reference(_ZERO1)), "bytes"


def zero1_by_hand_sent():
    """What one device sends around a ring in a step of ZeRO-1 in shard_map."""
    return _sent(accepted(_ZERO1, "shard_map_scatter")), "bytes"


def fsdp_auto_sent():
    """What one device sends around a ring in a step of FSDP by jit."""
    return _sent(reference(_AUTO)), "bytes"


def fsdp_sent():
    """What one device sends around a ring in a step of FSDP in shard_map."""
    return _sent(reference(_FSDP)), "bytes"


def reduce_sent():
    """What one device sends around a ring for the all_reduce of the gradients and the loss."""
    return reference(_DP).reduce.sent, "bytes"


def scatter_sent():
    """What one device sends around a ring for the reduce_scatter of the gradients with FSDP in shard_map."""
    return reference(_FSDP).scatter.sent, "bytes"


def auto_scatters():
    """The reduce_scatters of a step of FSDP by jit."""
    return reference(_AUTO).scatter.executions, "reduce_scatters"


def fsdp_state_on_four():
    """The state on one of 4 devices with FSDP in shard_map."""
    return reference(_FSDP, 4).state, "bytes"


def dp_state_on_four():
    """The state on one of 4 devices with data parallelism."""
    return reference(_DP, 4).state, "bytes"


def fsdp_sent_on_four():
    """What one of 4 devices sends around a ring in a step, with FSDP in shard_map and with data parallelism."""
    (sent,) = {_sent(reference(problem, 4)) for problem in (_FSDP, _DP)}
    return sent, "bytes"
