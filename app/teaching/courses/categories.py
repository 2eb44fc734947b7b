"""The categories of a course, such as homework and exams: what each weighs in the total.

The only writer of that table.
"""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, check_reason, record
from app.accounts.caller import User
from app.accounts.text_rules import check_line
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.teaching.courses.errors import CategoriesInvalid
from app.teaching.courses.grade_arithmetic import Category
from app.teaching.courses.models import AssignmentRow, CategoryRow
from app.teaching.courses.service import Course

LONGEST_CATEGORY = 60
MOST_CATEGORIES = 20
MOST_WEIGHT = 1000
MOST_DROPPED = 50


class Categories:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, course: Course) -> list[Category]:
        """In the order in which they were entered."""
        async with self._database.reading() as session:
            return await categories_of(session, course.id)

    async def replace(self, user: User, course: Course, categories: Sequence[Category], reason: str = "") -> None:
        """Replace all of them. If nothing changes, the audit log gets no entry.

        Raises:
          FieldInvalid.
          CategoriesInvalid: a name appears twice, or one that an assignment has is missing.
        """
        reason = check_reason(reason)
        after = [_checked(number, each) for number, each in enumerate(categories, 1)]
        if len(after) > MOST_CATEGORIES:
            raise FieldInvalid(f"categories: give at most {MOST_CATEGORIES}.")
        names = [each.name for each in after]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise CategoriesInvalid(f"categories: {twice!r} appears twice.")
        async with self._database.writing() as session:
            before = await categories_of(session, course.id)
            row = AssignmentRow
            query = select(row.name, row.category).where(row.course_id == course.id, row.category.is_not(None))
            for assignment, category in await session.execute(query):
                if category not in names:
                    raise CategoriesInvalid(
                        f"categories: the assignment {assignment!r} is in {category!r}. Keep that category, or choose "
                        "another one on the page of the assignment first."
                    )
            if before == after:
                return
            await session.execute(delete(CategoryRow).where(CategoryRow.course_id == course.id))
            session.add_all(
                CategoryRow(
                    course_id=course.id,
                    position=place,
                    name=each.name,
                    weight=each.weight,
                    drop_lowest=each.drop_lowest,
                )
                for place, each in enumerate(after)
            )
            detail = f"{course.name}: {_in_words(before)} to {_in_words(after)}"
            record(session, user, "categories-changed", None, reason, detail[:LONGEST_DETAIL], course.id)


async def categories_of(session: AsyncSession, course_id: str) -> list[Category]:
    row = CategoryRow
    query = select(row.name, row.weight, row.drop_lowest).where(row.course_id == course_id).order_by(row.position)
    return [Category(*each) for each in await session.execute(query)]


async def require_category(session: AsyncSession, course_id: str, name: str | None) -> None:
    """Raises `FieldInvalid` if the course has no such category."""
    if name is None:
        return
    known = [each.name for each in await categories_of(session, course_id)]
    if name not in known:
        choice = f"It has {', '.join(known)}." if known else "It has none yet: add them on the page of the gradebook."
        raise FieldInvalid(f"category: this course has no category {name[:LONGEST_CATEGORY]!r}. {choice}")


def _checked(number: int, each: Category) -> Category:
    where = f"categories: category {number}"
    if not 0 <= each.weight <= MOST_WEIGHT:
        raise FieldInvalid(f"{where} needs a weight of 0 to {MOST_WEIGHT}.")
    if not 0 <= each.drop_lowest <= MOST_DROPPED:
        raise FieldInvalid(f"{where} can drop 0 to {MOST_DROPPED} assignments.")
    return Category(check_line("categories", each.name, LONGEST_CATEGORY), each.weight, each.drop_lowest)


def _in_words(categories: Sequence[Category]) -> str:
    return ", ".join(f"{each.name} {each.weight} (drop {each.drop_lowest})" for each in categories) or "none"
