"""A page of this site that a form or an address names as the one to go on to."""

import re

# One slash: two, or a slash and a backslash, begin the name of another host in a browser.
_OWN = re.compile(r"/|/(?![/\\])[\x21-\x5b\x5d-\x7e]{1,1999}")


def own_page(given: str, otherwise: str = "/account") -> str:
    """`given` where it is a path of this site, perhaps with a query, else `otherwise`."""
    return given if _OWN.fullmatch(given) else otherwise
