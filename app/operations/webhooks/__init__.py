"""Events that are sent to addresses that users registered."""
