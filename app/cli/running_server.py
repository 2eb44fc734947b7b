"""What a server on this machine reports about itself."""

import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from app.settings import Settings

_WAIT_S = 2.0
_MAX_BYTES = 4 << 20


def setbacks_of_server(settings: "Settings") -> list[dict[str, object]] | None:
    """The failures that it retries, as `{"what", "name", "failures"}`; None if no server responds.

    The request goes to the address on which `serve` would listen with these settings.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    request = urllib.request.Request(f"http://{host}:{settings.port}/metrics")
    if settings.metrics_token is not None:
        request.add_header("Authorization", f"Bearer {settings.metrics_token.get_secret_value()}")
    # No proxy: it is this machine, and no one else may see the token.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_WAIT_S) as answer:
            text = answer.read(_MAX_BYTES).decode()
        families = list(text_string_to_metric_families(text))
    except (OSError, ValueError):
        # There is no server, it does not respond in time or refuses, or another program uses the port.
        return None
    return [
        {"what": sample.labels.get("what", ""), "name": sample.labels.get("name", ""), "failures": int(sample.value)}
        for family in families
        for sample in family.samples
        if sample.name == "meshgrade_setbacks"
    ]
