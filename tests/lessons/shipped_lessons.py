"""The lessons that ship, read once for each test process, because reading all of them takes half a second."""

from app.learning.lessons.lesson_files import Lessons
from tests.lessons.write_claims import LESSONS

SHIPPED = Lessons.load(LESSONS)
BY_SLUG = {lesson.slug: lesson for lesson in SHIPPED.all()}
