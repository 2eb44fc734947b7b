"""The tokens of the style sheets: colours that everyone can tell apart."""

import re
from itertools import combinations

import numpy as np
import pytest

from app.core.web.static_files import FOLDER

TOKENS = (FOLDER / "tokens.css").read_text()
THEMES = ("light", "dark")
COLOURS = range(1, 9)
# Machado, Oliveira and Fernandes 2009, severity 1, in linear RGB; and OKLab, in which distances are what people see.
SIGHTS = {
    "usual": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
LMS = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]
LAB = [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]


def linear(name, theme):
    """A token's colour in linear RGB."""
    pair = re.search(rf"--{name}: light-dark\(#(\w{{6}}), #(\w{{6}})\);", TOKENS)
    channels = np.array(list(bytes.fromhex(pair[1 + THEMES.index(theme)]))) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    darker, lighter = sorted(float(colour @ [0.2126, 0.7152, 0.0722]) + 0.05 for colour in (one, other))
    return lighter / darker


def seen(colour, sight):
    return np.array(LAB) @ np.cbrt(np.array(LMS) @ np.clip(SIGHTS[sight] @ colour, 0, 1))


@pytest.mark.parametrize("theme", THEMES)
def test_colours_of_drawings_stand_out_from_every_surface(theme):
    for name in ("page", "surface", "sunken"):
        for number in COLOURS:
            assert contrast(linear(f"shard-{number}", theme), linear(name, theme)) >= 3, (name, number)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_of_drawings_differ_for_every_sight(theme, sight):
    colours = {number: seen(linear(f"shard-{number}", theme), sight) for number in COLOURS}
    for one, other in combinations(COLOURS, 2):
        assert np.linalg.norm(colours[one] - colours[other]) >= 0.1, (one, other)
