"""Who a person really is, according to a roster or a learning platform."""
