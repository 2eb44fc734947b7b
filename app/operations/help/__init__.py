"""The pages that explain reasons, errors and REST."""
