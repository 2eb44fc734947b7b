"""What the routes for similarity need."""

from dataclasses import dataclass

from app.courses.services import CourseServices
from app.similarity.service import Similarity


@dataclass(frozen=True, kw_only=True)
class SimilarityServices(CourseServices):
    similarity: Similarity
