"""A change of the manifest's keys comes with a migration, by which an older worker notices that it is older."""

import hashlib
import json
from typing import Any

from app.core.migrate import known_revisions
from app.core.settings import CHECKOUT

# The hash of the manifest's schema, without its prose, since each revision. Until a release, replace the last one.
# After a release, add one with a new revision, whose migration is empty if nothing else changes.
MANIFESTS = {"0057_0045": "64e5d79854bf09ce"}


def test_a_change_of_the_manifest_comes_with_a_migration():
    schema = json.loads((CHECKOUT / "docs" / "problem.schema.json").read_text(encoding="utf-8"))
    newest = hashlib.sha256(json.dumps(_without_prose(schema)).encode()).hexdigest()[:16]
    assert list(MANIFESTS.values())[-1] == newest, "docs/problem.schema.json has changed: see the comment at MANIFESTS"
    assert known_revisions() >= MANIFESTS.keys()
    assert sorted(MANIFESTS) == list(MANIFESTS)


def _without_prose(schema: Any) -> Any:
    """A schema except for its explanations. A key of the manifest may be called `description`, but is not a text."""
    if isinstance(schema, list):
        return [_without_prose(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_prose(each)
        for name, each in schema.items()
        if not (name in ("description", "title", "$comment") and isinstance(each, str))
    }
