"""The process that all confined processes are forked from, and the probe that tries their walls."""
