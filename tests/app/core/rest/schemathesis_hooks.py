"""The one value that Schemathesis cannot make up: the zip of a problem's package. Named by SCHEMATHESIS_HOOKS."""

import schemathesis
from hypothesis import strategies

from tests.app.authoring.zips import zipped
from tests.app.conftest import FILES

statements = strategies.text(strategies.characters(codec="utf-8"), min_size=1).filter(str.strip)
schemathesis.openapi.media_type("application/zip", statements.map(lambda text: zipped(FILES | {"statement.md": text})))
