"""Submit, list, show, share and rank attempts."""
