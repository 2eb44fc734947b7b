"""Receipts: what texts quote, measured once and kept in tests/receipts under a digest of what decides it.

`python -m tests.prove` measures what has no receipt of today (docs/decisions/0037-receipts-of-content.md).
"""
