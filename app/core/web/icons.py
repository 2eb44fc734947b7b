"""Our own icons, 16 units wide, in the colour of the text that is beside each: an icon is never the only label."""

from markupsafe import Markup

# `solid` is filled, `on-solid` drawn over it in the colour of the page; everything else is a line.
_DRAWN = {
    "new": '<circle cx="8" cy="8" r="5.25"/>',
    "tried": '<circle cx="8" cy="8" r="5.25"/><path class="solid" d="M8 2.75a5.25 5.25 0 0 1 0 10.5z"/>',
    "solved": '<circle class="solid" cx="8" cy="8" r="6"/><path class="on-solid" d="m5.2 8.2 2 2 3.6-4"/>',
    "passed": '<path d="m3 8.5 3.2 3.2L13 4.5"/>',
    "failed": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "arrow": '<path d="M2.5 8H13M9 4l4 4-4 4"/>',
    "menu": '<path d="M2.5 4.5h11m-11 3.5h11m-11 3.5h11"/>',
    "search": '<circle cx="7" cy="7" r="4.25"/><path d="m10.2 10.2 3.6 3.6"/>',
    "mesh": (
        '<path d="M3 4.5h10M3 11.5h10M3 4.5v7M8 4.5v7M13 4.5v7"/><g class="solid"><circle cx="3" cy="4.5" r="1.7"/>'
        '<circle cx="8" cy="4.5" r="1.7"/><circle cx="13" cy="4.5" r="1.7"/><circle cx="3" cy="11.5" r="1.7"/>'
        '<circle cx="8" cy="11.5" r="1.7"/><circle cx="13" cy="11.5" r="1.7"/></g>'
    ),
    "exchange": '<path d="M2 5.5h11M10 2.5l3 3-3 3M14 10.5H3M6 7.5l-3 3 3 3"/>',
    "memory": (
        '<rect x="2.5" y="4" width="11" height="8" rx="1"/><path class="solid" d="M3 4.5h3v7H3z"/><path d="M9.5 4v8"/>'
    ),
    "values": '<path d="M3 6h10M3 10h10"/>',
    "empty": '<path d="M2.5 9.5 4.2 3.5h7.6l1.7 6v3h-11z"/><path d="M2.5 9.5h3.2l.8 1.6h3l.8-1.6h3.2"/>',
    "enlarge": '<path d="M9.5 2.5h4v4M13 3 9 7M6.5 13.5h-4v-4M3 13l4-4"/>',
    "shrink": '<path d="M13 7H9V3M9.3 6.7l4-4M3 9h4v4M6.7 9.3l-4 4"/>',
    "grip": (
        '<g class="solid"><circle cx="6" cy="4" r=".6"/><circle cx="10" cy="4" r=".6"/><circle cx="6" cy="8" r=".6"/>'
        '<circle cx="10" cy="8" r=".6"/><circle cx="6" cy="12" r=".6"/><circle cx="10" cy="12" r=".6"/></g>'
    ),
    "settings": (
        '<path d="M2.5 5h5.7M11.8 5h1.7M2.5 11h1.7M7.8 11h5.7"/><circle cx="10" cy="5" r="1.8"/>'
        '<circle cx="6" cy="11" r="1.8"/>'
    ),
    "theme": '<circle cx="8" cy="8" r="5.5"/><path class="solid" d="M8 2.5a5.5 5.5 0 0 1 0 11z"/>',
    "system": '<rect x="2" y="3" width="12" height="8" rx="1"/><path d="M5.5 13.5h5"/>',
    "light": (
        '<circle cx="8" cy="8" r="2.75"/><path d="M8 1.5v1.8M8 12.7v1.8M1.5 8h1.8M12.7 8h1.8M3.4 3.4l1.3 1.3'
        'M11.3 11.3l1.3 1.3M3.4 12.6l1.3-1.3M11.3 4.7l1.3-1.3"/>'
    ),
    "dark": '<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z"/>',
}
# A track's glyph, by the name that tracks.toml gives it.
_GLYPHS = {
    "track": '<path d="M3.5 13.5V2.5h8l-2 3 2 3h-8"/>',
    "cells": '<path d="M2.5 2.5h11v11h-11zM8 2.5v11M2.5 8h11"/><path class="solid" d="M2.5 2.5H8V8H2.5z"/>',
    "ring": (
        '<path d="M5.5 3h5M13 5.5v5M10.5 13h-5M3 10.5v-5"/><g class="solid"><circle cx="3" cy="3" r="1.8"/>'
        '<circle cx="13" cy="3" r="1.8"/><circle cx="13" cy="13" r="1.8"/><circle cx="3" cy="13" r="1.8"/></g>'
    ),
    "axes": '<path d="M3 2v11h11M1.2 4 3 2l1.8 2M12 11.2l2 1.8-2 1.8"/><path class="solid" d="M6.5 6h4v4h-4z"/>',
    "listing": (
        '<path d="M2.5 3.5h8M4.5 6.5h4M4.5 9.5h2M2.5 12.5h3"/><circle cx="10.5" cy="10" r="2.5"/>'
        '<path d="m12.4 11.9 1.8 1.8"/>'
    ),
    "loop": '<path d="M13 6.5A5.25 5.25 0 1 0 13.2 9M13.5 2.8v3.7H9.8"/><circle class="solid" cx="8" cy="8" r="1.2"/>',
    "copies": '<path d="M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z"/>',
    "strips": '<path d="M2.5 2.5h11v11h-11zM2.5 8h11M2.5 10.75h11"/><path class="solid" d="M2.5 2.5h11v2.75h-11z"/>',
    "cube": '<path d="m8 1.8 5.5 3v6.4l-5.5 3-5.5-3V4.8zM2.5 4.8 8 8l5.5-3.2M8 8v6.2"/>',
    "columns": '<path d="M2.5 2.5h11v11h-11zM6.2 2.5v11M9.8 2.5v11"/><path class="solid" d="M6.2 2.5h3.6v11H6.2z"/>',
    "module": (
        '<path d="M8 5.2v2.3M8 7.5 4 10.4M8 7.5l4 2.9"/><g class="solid"><path d="M5.8 1.8h4.4v3.4H5.8z"/></g>'
        '<path d="M1.8 10.4h4.4v3.4H1.8zM9.8 10.4h4.4v3.4H9.8z"/>'
    ),
    "fan": (
        '<path d="M4 8 11 3.4M4 8h7M4 8l7 4.6M10.5 6.3h3.5v3.4h-3.5zM10.5 10.9h3.5v3.4h-3.5z"/>'
        '<g class="solid"><circle cx="3.6" cy="8" r="1.9"/><path d="M10.5 1.7h3.5v3.4h-3.5z"/></g>'
    ),
    "wrench": (
        '<path d="M13.2 4.9 11 7.1 8.9 5l2.2-2.2a3.6 3.6 0 0 0-4.7 4.6L2.2 11.6a1.5 1.5 0 0 0 2.2 2.2l4.2-4.2'
        'a3.6 3.6 0 0 0 4.6-4.7z"/>'
    ),
    "stairs": '<path class="solid" d="M1.5 2.5h5v2.6h-5zM5.5 6.7h5v2.6h-5z"/><path d="M9.5 10.9h5v2.6h-5z"/>',
}
GLYPHS = frozenset(_GLYPHS)
_ICONS = {
    name: Markup('<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{}</svg>').format(
        Markup(drawn)
    )
    for name, drawn in (_DRAWN | _GLYPHS).items()
}


def icon(name: str) -> Markup:
    """Inline SVG. Raises `KeyError` for a name that is none of ours."""
    return _ICONS[name]
