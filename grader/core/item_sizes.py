"""How many bytes arrays take on a device, including those of dtypes whose values never leave a process."""

from grader.core.wire import DTYPES

# A typed key has the bits of its key data, https://docs.jax.dev/en/latest/jep/9263-typed-keys.html. Integers of 4 bits
# are packed in pairs.
_ABSTRACT_BITS = {"int4": 4, "uint4": 4, "key<fry>": 64, "key<rbg>": 128, "key<urbg>": 128}
_BITS = {name: 8 * dtype.itemsize for name, dtype in DTYPES.items()} | _ABSTRACT_BITS
# The dtypes that a program's leaves can have.
LEAF_DTYPES = frozenset(_BITS)


def bytes_of(elements: int, dtype: str) -> int:
    """The bytes of a number of elements of one of `LEAF_DTYPES`."""
    return -(-elements * _BITS[dtype] // 8)
