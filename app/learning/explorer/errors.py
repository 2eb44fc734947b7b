"""Why an exploration is refused."""

from app.core.errors import Refused


class ExplorationNotFound(Refused):
    status, slug, title = 404, "exploration-not-found", "There is no such exploration"


class NothingToExplore(Refused):
    status, slug, title = 409, "nothing-to-explore", "This problem has no compiled program"


class TooManyExplorations(Refused):
    status, slug, title = 429, "too-many-explorations", "Too many explorations are waiting"


class ExplorationsFull(Refused):
    status, slug, title = 409, "explorations-full", "You have too many explorations"


class OptionsRefused(Refused):
    status, slug, title = 409, "xla-options-refused", "An option of XLA is not taken"


class FunctionRefused(Refused):
    status, slug, title = 409, "function-refused", "The function cannot be compiled on this mesh"
