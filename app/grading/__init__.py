"""From a submission to its stored verdict: attempts, comments on them, and the queue."""
