"""The values that Schemathesis cannot make up: the zip of a problem's package, and networks.

The variable SCHEMATHESIS_HOOKS names this module.
"""

import schemathesis
from hypothesis import strategies

from tests.app.authoring.zips import zipped
from tests.app.conftest import FILES

statements = strategies.text(strategies.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
schemathesis.openapi.format("ip-network", strategies.ip_addresses().map(str))
schemathesis.openapi.media_type("application/zip", statements.map(lambda text: zipped(FILES | {"statement.md": text})))
