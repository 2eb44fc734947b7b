"""Our code beside one submission: it loads the source, calls it, and exports its programs."""
