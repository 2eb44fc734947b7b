"""The calculators: which inputs each one has, which formula, and which plot."""

from app.calculators.calculator import Calculator
from app.calculators.tables.communication import COMMUNICATION
from app.calculators.tables.compute import COMPUTE
from app.calculators.tables.memory import MEMORY

CALCULATORS: tuple[Calculator, ...] = (*MEMORY, *COMMUNICATION, *COMPUTE)
BY_NAME = {each.name: each for each in CALCULATORS}
GROUPS = (("Memory", MEMORY), ("Communication", COMMUNICATION), ("Compute", COMPUTE))
