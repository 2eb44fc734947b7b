"""Tells IP addresses from names."""

from ipaddress import ip_address


def is_ip_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
