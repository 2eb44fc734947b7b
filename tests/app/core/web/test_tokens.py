"""The tokens of the style sheets: colours that everyone can tell apart."""

import re
from itertools import combinations

import numpy as np
import pytest

from app.core.web.static_files import FOLDERS, static_file, static_files
from app.problems.tracks import read_tracks
from tests.faults import for_each

TOKENS = static_file("core/tokens.css").read_text()
THEMES = ("light", "dark")
# How many colours a palette has, and how much two of them differ at least. Glyphs repeat the colours of tracks.
PALETTES = {"shard": (8, 0.1), "kind": (6, 0.1), "track": (15, 0.06)}
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


def numbers(palette):
    return range(1, PALETTES[palette][0] + 1)


@pytest.mark.parametrize("palette", PALETTES)
def test_a_palette_has_as_many_colours_as_are_used(palette):
    assert re.findall(rf"--{palette}-(\d+):", TOKENS) == [str(number) for number in numbers(palette)]


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_stand_out_from_every_surface(theme, palette):
    for name in ("page", "surface", "sunken"):
        for number in numbers(palette):
            assert contrast(linear(f"{palette}-{number}", theme), linear(name, theme)) >= 3, (name, number)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_of_a_palette_differ_for_every_sight(theme, palette, sight):
    colours = {number: seen(linear(f"{palette}-{number}", theme), sight) for number in numbers(palette)}
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(colours[one] - colours[other]) >= PALETTES[palette][1], (one, other)


@pytest.mark.parametrize("theme", THEMES)
def test_slices_and_collectives_have_colours_of_their_own(theme):
    own = [f"{palette}-{number}" for palette in ("shard", "kind") for number in numbers(palette)]
    colours = {name: seen(linear(name, theme), "usual") for name in [*own, "accent"]}
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(colours[one] - colours[other]) >= 0.05, (one, other)


def test_each_track_of_the_curriculum_has_a_colour_of_its_own():
    tracks = read_tracks(FOLDERS["core"].parents[2] / "problems")
    assert len({each.colour for each in tracks}) == len(tracks) == PALETTES["track"][0]


SHEETS = {sheet.name: sheet.read_text() for sheet in static_files() if sheet.suffix == ".css"}
# What a size is relative to is said beside it.
RELATIVE = {"inherit", "0", "var(--code-in-text)"}


@for_each("name", SHEETS)
def test_every_size_of_text_is_a_step_of_the_scale(name):
    sheet = re.sub(r"/\*.*?\*/", "", SHEETS[name], flags=re.DOTALL)
    for size in re.findall(r"font-size:\s*([^;}]+)", sheet):
        assert size.strip() in RELATIVE or re.fullmatch(r"var\(--(text|drawn)-[\w-]+\)", size.strip()), size
    for font in re.findall(r"\bfont:\s*([^;}]+)", sheet):
        assert font == "inherit" or re.search(r"var\(--(text|drawn)-[\w-]+\)(/[\d.]+)? var\(--(sans|mono)\)$", font), (
            font
        )
    for used in re.findall(r"var\((--[\w-]+)\)", sheet):
        assert f"{used}:" in TOKENS or any(f"{used}:" in other for other in SHEETS.values()), used


def ranges(face):
    """The characters that files of a face are loaded for."""
    found = set()
    for each in re.findall(rf'font-family: "{face}".*?unicode-range: ([^;]+);', TOKENS, flags=re.DOTALL):
        for part in each.replace("U+", "").split(", "):
            start, _, end = part.partition("-")
            found.update(map(chr, range(int(start, 16), int(end or start, 16) + 1)))
    return found


def test_the_faces_are_small_and_carry_their_licences():
    files = sorted(static_file("core/fonts").glob("*.woff2"))
    assert {file.name for file in files} == set(re.findall(r'url\("fonts/([^"]+)"\)', TOKENS))
    assert sum(file.stat().st_size for file in files) <= 70_000
    for licence in ("source-sans-licence.txt", "source-code-pro-licence.txt"):
        assert "SIL OPEN FONT LICENSE Version 1.1" in static_file(f"core/fonts/{licence}").read_text()


def test_texts_have_only_characters_of_the_faces():
    """Pictures of control characters, and the key of Macs, come from whatever font the system has."""
    root = FOLDERS["core"].parents[2]
    shown = [*root.glob("app/**/*.html"), *root.glob("app/**/*.py"), *FOLDERS["core"].glob("*.js")]
    shown += [*root.glob("problems/**/*.md"), *root.glob("lessons/**/*.md"), *root.glob("grader/**/*.py")]
    used = {char for file in shown for char in file.read_text() if ord(char) > 126}
    assert used - ranges("Meshgrade Text") - ranges("Meshgrade Code") == set("␇␊␡⌘⟨⟩")
