"""Interviews: three problems under time."""
