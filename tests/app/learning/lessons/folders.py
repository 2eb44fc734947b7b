"""A folder with one small lesson, to be changed by a test."""

import json
from pathlib import Path
from typing import Any

ORDER = """
[[lessons]]
slug = "first"
title = "First"
summary = "One array."
problems = ["add_one"]
"""
TEXT = """One array of {{ claim("size") }}, or {{ number("size") }}.

## Its shape

![The array](figures/array.svg)

```python
print((2, 4))
```

```text
(2, 4)
```

It is `(2, 4)`.

::: misreading 1.2 0.14
"It is flat."

It is not.
:::

::: question number
How large is it?

{{ claim("size") }}

It is whole. Try *add_one*.
:::

::: question choice
Which **axis** is split?

- [ ] neither
  > Its *rows* are.
- [x] the first,
  over `data`

It has no other.
:::

::: question spec
What is its spec?

`P("data")`

The second dimension is whole.
:::
"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" role="img" aria-labelledby="t d">'
    '<title id="t">Array</title><desc id="d">One.</desc><rect width="9" height="9"/></svg>'
)
CLAIMS: dict[str, Any] = {
    "jax": "0.10.2",
    "devices": 8,
    "by_name": {"size": {"value": 4096, "unit": "bytes", "what": "The whole array."}},
}


def write_lesson(
    folder: Path, *, order: str = ORDER, text: str = TEXT, claims: object = CLAIMS, svg: str | None = SVG
) -> Path:
    """Write lessons/ below `folder` and return it."""
    lesson = folder / "lessons" / "first"
    (lesson / "figures").mkdir(parents=True)
    (lesson.parent / "order.toml").write_text(order)
    (lesson / "lesson.md").write_text(text)
    (lesson / "claims.json").write_text(json.dumps(claims))
    if svg is not None:
        (lesson / "figures" / "array.svg").write_text(svg)
    return lesson.parent
