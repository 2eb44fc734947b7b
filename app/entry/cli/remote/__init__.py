"""How commands talk to a server over REST: its address and token, submissions, attempts, events."""
