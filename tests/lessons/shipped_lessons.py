"""The lessons that ship, read once for each test process, because reading all of them takes half a second."""

from app.learning.lessons.lesson_files import Lessons
from tests.import_closure import CHECKOUT

LESSONS = CHECKOUT / "lessons"
SHIPPED = Lessons.load(LESSONS)
