"""What a test does with repositories over REST, as the owner."""

from pathlib import Path
from typing import Any

import httpx

from app.authoring.repositories.sync_runner import Syncs
from tests.app.conftest import Service

REPOSITORIES = "/api/v1/repositories"


async def register(service: Service, address: str | Path, **fields: object) -> httpx.Response:
    kind = "git" if "://" in str(address) else "folder"
    body = {"kind": kind, "address": str(address)} | fields
    return await service.http.post(REPOSITORIES, json=body, headers=service.bearer)


async def registered(service: Service, address: str | Path, **fields: object) -> dict[str, Any]:
    response = await register(service, address, **fields)
    assert response.status_code == 201, response.text
    return response.json()


async def sync(service: Service, repository: dict[str, Any]) -> dict[str, Any]:
    """Sync a repository. Returns the sync once it has finished."""
    begun = await service.http.post(f"{REPOSITORIES}/{repository['id']}/syncs", headers=service.bearer)
    assert begun.status_code == 202, begun.text
    await service.services[Syncs].settled()
    return (await service.http.get(begun.headers["Location"], headers=service.bearer)).json()


def outcomes(finished: dict[str, Any]) -> dict[str, str]:
    return {each["problem"] or each["folder"]: each["outcome"] for each in finished["problems"]}
