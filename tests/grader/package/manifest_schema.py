"""docs/problem.schema.json: the keys of problem.toml for editors, generated from the models that read it.

`python -m tests.write` writes it.
"""

import json
from typing import Any

from grader import checks
from grader.core.wire import DTYPES
from grader.package.package import MANIFEST, MANIFESTS
from grader.verdicts.verdict import Mode


def schema() -> dict[str, Any]:
    """The schema of the manifest. Each check has the keys of its own bounds."""
    found: dict[str, Any] = MANIFEST.json_schema()
    definitions = found["$defs"]
    for mode, model in MANIFESTS.items():
        manifest = definitions[model.__name__]["properties"]
        manifest["checks"]["items"] = {"anyOf": [_check(mode, name, definitions) for name in checks.names(mode)]}
        manifest["tolerance"]["propertyNames"] = {"enum": list(DTYPES)}
    definitions["OutputTolerance"]["properties"]["dtype"]["anyOf"][0]["enum"] = list(DTYPES)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "problem.toml of Meshgrade",
        "description": "The manifest of a problem package, described in problems.md.",
        **found,
    }


def _check(mode: Mode, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    own = f"{mode}_{name}"
    bounds = checks.load(mode, name).Bounds.model_json_schema(ref_template=f"#/$defs/{own}_{{model}}")
    for inner, definition in bounds.pop("$defs", {}).items():
        definitions[f"{own}_{inner}"] = definition
    common = definitions["CheckSpec"]["properties"]
    definitions[own] = {
        **bounds,
        "title": name,
        "description": checks.load(mode, name).TITLE,
        "properties": {**common, "id": {"const": name}, **bounds.get("properties", {})},
        "required": ["id", "points", *bounds.get("required", [])],
        "additionalProperties": False,
    }
    return {"$ref": f"#/$defs/{own}"}


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
