"""What REST says of a person."""

from pydantic import BaseModel, ConfigDict

from app.accounts.service import Role


class MeJSON(BaseModel):
    """The user that the token or cookie stands for."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"id": "5f0c8e0e2f6b4d1c9a7e3b2d1f0a9c8b", "name": "owner", "role": "owner"}]},
    )

    id: str
    name: str
    role: Role
