"""Reading a compiled program: what the devices say to each other, compute and hold."""
