"""The walls around submitted code, the pool of warm forks, and sessions with them."""
