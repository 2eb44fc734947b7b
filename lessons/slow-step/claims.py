"""The numbers of the lesson: one step, with fewer and fewer faults."""

import jax
import jax.numpy as jnp

from tests.lessons.slow_steps import LAYERS, ROWS, STAGES, WIDTH


def devices():
    """The devices of the mesh."""
    return len(jax.devices()), "devices"


def expected_flops():
    """The FLOPs that a device should need: six for each weight and each of its rows."""
    return 6 * LAYERS * WIDTH**2 * ROWS // len(jax.devices()), "FLOPs"


def found_flops():
    """The FLOPs of matrix products in the step as it is found."""
    return STAGES["found"].flops, "FLOPs"


def split_flops():
    """The FLOPs of matrix products once the rows are split."""
    return STAGES["split"].flops, "FLOPs"


def free_flops():
    """The FLOPs of matrix products once hidden layers stay split, too."""
    return STAGES["free"].flops, "FLOPs"


def split_sent():
    """What a device sends while hidden layers are made whole."""
    return STAGES["split"].sent, "bytes"


def free_sent():
    """What a device sends once hidden layers stay split."""
    return STAGES["free"].sent, "bytes"


def found_held():
    """What a device holds for the step as it is found: arguments, results and temporaries."""
    return STAGES["found"].held, "bytes"


def free_held():
    """What a device holds once hidden layers stay split."""
    return STAGES["free"].held, "bytes"


def donated_held():
    """What a device holds once the state is donated."""
    return STAGES["donated"].held, "bytes"


def held_less():
    """How much less a device holds once the state is donated."""
    return STAGES["free"].held - STAGES["donated"].held, "bytes"


def weights_bytes():
    """The bytes of the weights, which are whole on each device."""
    return LAYERS * jnp.zeros((WIDTH, WIDTH)).nbytes, "bytes"


def in_place():
    """The bytes that are written in place once the state is donated."""
    return STAGES["donated"].written_in_place, "bytes"
