"""REST: who am I."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.accounts.schemas import MeJSON
from app.accounts.service import User
from app.accounts.web import require_user
from app.problem_json import problem_responses

router = APIRouter(tags=["accounts"])


@router.get("/me", summary="The user behind the token or cookie", responses=problem_responses(401))
async def get_me(user: Annotated[User, Depends(require_user)]) -> MeJSON:
    return MeJSON(id=user.id, name=user.name, role=user.role)
