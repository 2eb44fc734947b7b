"""A browser session for tests, without a browser."""

from typing import cast

import httpx
from playwright.sync_api import StorageState

from tests.browser.browser import Service


def sign_in_by_link(service: Service) -> StorageState:
    """Follow the link that the service printed, which works once. Returns the cookies."""
    with httpx.Client(timeout=60) as http:
        assert http.get(service.sign_in_url).status_code == 303
        return cookies_of(http)


def cookies_of(http: httpx.Client) -> StorageState:
    """The cookies of this client, for a browser."""
    cookies = [
        {
            "name": each.name,
            "value": each.value or "",
            "domain": each.domain,
            "path": each.path,
            "expires": each.expires or -1,
            "httpOnly": True,
            "secure": each.secure,
            "sameSite": "Lax",
        }
        for each in http.cookies.jar
    ]
    return cast(StorageState, {"cookies": cookies, "origins": []})
