"""Every kind of content that has receipts."""

from tests.prove import calculators, lessons, pages, problems

KINDS = (*problems.KINDS, *lessons.KINDS, *calculators.KINDS, *pages.KINDS)
