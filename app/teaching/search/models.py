"""Tables of the texts that the search looks in. A third one, `shared_answers_search`, is the full text in the database:
migrations/versions/0060_searched_texts.py creates it, and only app/teaching/search/text_index.py uses it.
"""

from sqlalchemy import ForeignKey, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base


class DocumentRow(Base):
    """A lesson, a statement or a help page. `digest` changes with its text and with the code that divides it."""

    __tablename__ = "searched_documents"

    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    title: Mapped[str] = mapped_column(String(400))


class SectionRow(Base):
    """A section of a document. `heading` is empty for the text before the first heading."""

    __tablename__ = "searched_sections"

    id: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    document: Mapped[str] = mapped_column(ForeignKey("searched_documents.key"), index=True)
    path: Mapped[str] = mapped_column(Text())
    heading: Mapped[str] = mapped_column(Text())
    text: Mapped[str] = mapped_column(Text())
