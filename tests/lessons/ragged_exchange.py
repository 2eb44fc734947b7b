"""What XLA's compiler for GPUs makes of a lesson's program with `ragged_all_to_all`, on eight H100s.

`tests/gpu/test_lessons_on_gpus.py` compiles the program and compares the number.
"""

# The bytes that each sends of the tokens, if an eighth of them stays.
SENT = 14_336
