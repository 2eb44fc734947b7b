"""The rule of every test that reads pages from a service: responses with the same ETag are the same page.

So each test that reads a list before and after a change also proves that its tag changed with what it shows.
"""

import re

import httpx

# Masked differently in each response.
_TOKEN = re.compile(rb'name="form_token" value="[0-9a-f]+"')
# By tag, of all services of this process: a tag depends on the process, the browser and the address.
_pages: dict[str, bytes] = {}


async def same_tag_same_page(response: httpx.Response) -> None:
    """A hook of an HTTP client."""
    etag = response.headers.get("etag", "")
    if response.request.method != "GET" or response.status_code != 200 or not etag.startswith("W/"):
        return
    page = _TOKEN.sub(b"", await response.aread())
    assert _pages.setdefault(etag, page) == page, f"{response.url} has changed, and its ETag has not"
