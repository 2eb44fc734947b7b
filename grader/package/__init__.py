"""What a problem package is: its manifest, its files, the highest limits, and its faults."""
