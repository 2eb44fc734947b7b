"""expect: rejected/error. Calls into the compiled program by a custom call that nobody registered."""

import jax


def add_one(x):
    call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))
    return jax.jit(call)(x)
