"""Everything about a person, exported and deleted."""
