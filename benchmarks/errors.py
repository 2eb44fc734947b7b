"""The one way in which a measurement gives up."""

from grader.errors import MeshgradeError


class BenchmarkFailed(MeshgradeError):
    """Something that had to work for a figure did not: the message says what, and no figure is printed."""
