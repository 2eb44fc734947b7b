"""A change of the manifest's keys comes with a migration, by which an older worker notices that it is older."""

import hashlib

from app.migrate import known_revisions
from app.settings import CHECKOUT

# The hash of the manifest's schema since each revision. Until a release, replace the last one. After a release, add one
# with a new revision, whose migration is empty if nothing else changes.
MANIFESTS = {
    "0041": "c6e4569d6c777766",
}


def test_a_change_of_the_manifest_comes_with_a_migration():
    newest = hashlib.sha256((CHECKOUT / "docs" / "problem.schema.json").read_bytes()).hexdigest()[:16]
    assert list(MANIFESTS.values())[-1] == newest, "docs/problem.schema.json has changed: see the comment at MANIFESTS"
    assert known_revisions() >= MANIFESTS.keys()
    assert sorted(MANIFESTS) == list(MANIFESTS)
