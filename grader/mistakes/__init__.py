"""Which known mistake a wrong submission makes."""
