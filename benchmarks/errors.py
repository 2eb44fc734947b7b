"""The error of a failed measurement."""

from grader.core.errors import MeshgradeError


class BenchmarkFailed(MeshgradeError):
    """Something that a figure depends on failed. The message says what, and no figure is printed."""
