"""The calculators: which inputs each one has, which formula, and which plot."""

from app.learning.calculators.calculator import Calculator
from app.learning.calculators.tables.communication import COMMUNICATION
from app.learning.calculators.tables.compute import COMPUTE
from app.learning.calculators.tables.memory import MEMORY

CALCULATORS: tuple[Calculator, ...] = (*MEMORY, *COMMUNICATION, *COMPUTE)
BY_NAME = {each.name: each for each in CALCULATORS}
GROUPS = (("Memory", MEMORY), ("Communication", COMMUNICATION), ("Compute", COMPUTE))
