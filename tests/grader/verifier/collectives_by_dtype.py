"""Run each collective with each element type, and write which results differ from those with float32.

Arguments: the types by HLO's names, and the file to write to. Values are 0 and 1, so that sums over devices are exact
in every type, and each shard has 5 or 960 elements, because what is packed goes wrong at odd sizes.
"""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.shapes import JAX_NAMES

SIZES = (5, 960)


def name_in_jax(dtype: str) -> str:
    """`float8_e5m2fnuz` for f8e5m2fnuz."""
    complexes = {"c64": "complex64", "c128": "complex128"}
    return JAX_NAMES.get(dtype) or complexes.get(dtype) or f"float8_{dtype.removeprefix('f8')}"


def written(x, devices):
    """Collectives as a program may write them. Each of the x is one shard."""
    ring = [(device, (device + 3) % devices) for device in range(devices)]

    def exchanged(a):
        return jax.lax.all_to_all(jnp.tile(a, (devices, 1)), "x", 0, 0, tiled=True).ravel()

    used = {
        "ppermute": lambda a: jax.lax.ppermute(a, "x", ring),
        "all_gather": lambda a: jax.lax.all_gather(a, "x", tiled=True)[: a.size],
        "all_to_all": exchanged,
    }
    # XLA has no order of complex numbers, and a sum of bools is a number.
    if not jnp.iscomplexobj(x[0]):
        used |= {"pmax": lambda a: jax.lax.pmax(a, "x"), "pmin": lambda a: jax.lax.pmin(a, "x")}
    if x[0].dtype != bool:
        used |= {
            "psum": lambda a: jax.lax.psum(a, "x"),
            "psum_scatter": lambda a: jax.lax.psum_scatter(jnp.tile(a, devices), "x", tiled=True),
        }
    return {f"{name} {a.size}": collective(a) for name, collective in used.items() for a in x}


def placed(x, mesh):
    """What the partitioner inserts between these shardings."""
    found = {}
    for a in x:
        rows = jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P("x")))
        found[f"gathered {a.size}"] = jax.lax.with_sharding_constraint(rows, NamedSharding(mesh, P()))
        found[f"columns {a.size}"] = jax.lax.with_sharding_constraint(rows, NamedSharding(mesh, P(None, "x")))
        found[f"rolled {a.size}"] = jnp.roll(rows, 1, axis=0)
        if a.dtype != bool:
            found[f"summed {a.size}"] = jnp.sum(rows[: mesh.size // 2], axis=0, dtype=a.dtype)
    return found


def results(dtype, mesh):
    values = [np.arange(mesh.size * size) * 7919 % 5 % 2 for size in SIZES]
    flat = [jnp.asarray(each).astype(dtype) for each in values]
    by_hand = jax.jit(
        jax.shard_map(lambda *x: written(x, mesh.size), mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    )(*flat)
    columns = [each.reshape(mesh.size, -1) for each in flat]
    return by_hand | jax.jit(lambda *x: placed(x, mesh))(*columns)


def main(arguments):
    jax.config.update("jax_enable_x64", True)
    mesh = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    expected = {name: np.asarray(each) for name, each in results("float32", mesh).items()}
    differ = {}
    for dtype in arguments[:-1]:
        found = {
            name: np.asarray(each.astype("complex128")) for name, each in results(name_in_jax(dtype), mesh).items()
        }
        differ[dtype] = [name for name, each in found.items() if not np.array_equal(each, expected[name])]
        assert len(found) >= len(expected) * 2 // 3
    Path(arguments[-1]).write_text(json.dumps({"devices": mesh.size, "differ": differ}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
