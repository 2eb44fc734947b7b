"""REST: who you are."""

from app.accounts.schemas import MeJSON
from app.accounts.web import Reader
from app.core.rest.routing import RestRouter

router = RestRouter("accounts")


@router.get("/me", summary="The user behind the token or cookie")
async def get_me(user: Reader) -> MeJSON:
    return MeJSON.of(user)
