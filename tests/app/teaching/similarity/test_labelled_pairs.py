"""What a report finds of what was copied: precision and recall for eight problems, and in a class of 40."""

from pathlib import Path

import pytest

from app.teaching.similarity.compare import compare
from app.teaching.similarity.fingerprints import fingerprints
from app.teaching.similarity.rarity import PublicCode
from tests.app.teaching.similarity.labelled_pairs import PROBLEMS, labelled_class
from tests.app.teaching.similarity.short_class import short_class

DOCS = Path("docs/accounts.md").read_text()
CLASSES = 24
SHORT = Path("problems/psum_by_hand")


def test_eight_problems_have_pairs_of_both_kinds():
    labels = {slug: labelled_class(slug).labels() for slug in PROBLEMS}
    assert len(labels) == 8
    copied = sum(sum(each.values()) for each in labels.values())
    total = sum(map(len, labels.values()))
    assert (copied, total) == (24, 224)
    assert f"{copied} copied and {total - copied} independent pairs" in DOCS.replace("\n", " ")


@pytest.mark.parametrize("slug", PROBLEMS)
def test_precision_and_recall(slug):
    """They are exact, and docs/accounts.md has the same table."""
    labelled = labelled_class(slug)
    labels, found = labelled.labels(), labelled.found()
    hits = sum(labels[pair] for pair in found)
    precision, recall = hits / len(found), hits / sum(labels.values())
    assert f"| `{slug}` | {sum(labels.values())} of {len(labels)} | {precision:.2f} | {recall:.2f} |" in DOCS
    assert (precision, recall) == (1.0, 1.0)


def test_ten_copies_are_in_the_first_twelve_rows_of_a_class_of_40():
    """In all classes but one, whose last copy is further down; no report has more rows than 26."""
    styles = [each.read_text() for each in (SHORT / "reference.py", *(SHORT / "submissions/accepted").glob("*.py"))]
    public = PublicCode.of([(SHORT / "starter.py").read_text()], styles)
    in_first_twelve, rows = [], []
    for seed in range(CLASSES):
        sources, copied = short_class(seed)
        assert len(sources) == 40
        pairs = [
            frozenset((each.one, each.other))
            for each in compare({key: fingerprints(each) for key, each in sources.items()}, public)
        ]
        assert len(copied) == len(copied & set(pairs)) == 10
        in_first_twelve.append(len(copied & set(pairs[:12])))
        rows.append(len(pairs))
    assert in_first_twelve.count(10) == CLASSES - 1
    assert min(in_first_twelve) == 9
    text = DOCS.replace("\n", " ")
    assert f"in {CLASSES - 1} of {CLASSES} such classes" in text
    assert f"{min(rows)} to {max(rows)} rows" in text
