"""What all routes of REST share: bodies, errors, pages of lists, limits, the OpenAPI document."""
