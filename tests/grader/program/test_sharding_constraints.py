"""Sharding constraints in the text of exported programs."""

from grader.program.sharding_constraints import ShardingConstraint
from grader.program.stablehlo import read_stablehlo

TEXT = """
module @m {
  sdy.mesh @mesh = <["x"=4]> loc(#loc)
  func.func public @main(%arg0: tensor<8x4xf32> loc("a"), %arg1: tensor<8x4xf32> loc("b")) -> tensor<8x4xf32> {
    %0 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#at2)
    %1 = stablehlo.add %arg0, %0 : tensor<8x4xf32> loc(#at3)
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<8x4xf32> loc(#at4)
    %3 = stablehlo.sine %2 : tensor<8x4xf32> loc(#at5)
    %4 = call @inner(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc(#at6)
    %5 = sdy.sharding_constraint %4 <@mesh, [{}, {"x"}]> : tensor<8x4xf32> loc(#elsewhere)
    return %5 : tensor<8x4xf32> loc(#at9)
  } loc(#loc)
  func.func private @inner(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#at7)
    return %0 : tensor<8x4xf32> loc(#at9)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc900 = loc("/lib/jax.py":1:1)
"""
LINES = "".join(f'#loc{line} = loc("submission.py":{line}:8 to :13)\n' for line in range(2, 10))


def test_a_constraint_is_between_what_makes_an_array_and_what_uses_it() -> None:
    text = TEXT.replace("#at", "#loc").replace("#elsewhere", "#loc900") + LINES
    assert read_stablehlo(text).constraints == (
        ShardingConstraint(line=2, elements=32, argument=1, made_by=None, used_by=frozenset({3})),
        ShardingConstraint(line=4, elements=32, argument=None, made_by=3, used_by=frozenset({5, 6})),
        # In a function, an argument may be any array.
        ShardingConstraint(line=7, elements=32, argument=None, made_by=None, used_by=frozenset()),
    )
