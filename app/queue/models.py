"""What machines that grade for one service have in common, besides the attempts and the packages."""

from sqlalchemy import Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class DeploymentRow(Base):
    """One row, on PostgreSQL alone: the deployment secret in hex, which every worker draws the same hidden cases from.

    Not hashed, because it is used. Whoever can read it here can read the packages and their references as well.
    """

    __tablename__ = "deployment"

    id: Mapped[int] = mapped_column(Integer(), primary_key=True, autoincrement=False)
    secret: Mapped[str] = mapped_column(String(64))
