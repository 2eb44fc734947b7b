"""The curriculum: read from a file, checked, and the order in which problems are shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.problems.catalogue import Catalogue
from app.problems.tracks import TracksInvalid, arrange, read_tracks

pytestmark = pytest.mark.anyio
PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
ONE = '[[tracks]]\nid = "a"\ntitle = "A"\nteaches = "B."\nproblems = ["add_one"]\n'


def written(folder, text):
    (folder / "tracks.toml").write_text(text)
    return folder


def named(package, slug, **manifest):
    return replace(package, manifest=package.manifest.model_copy(update={"slug": slug, **manifest}))


def order(sections):
    return [(section.title, [package.slug for package in section.packages]) for section in sections]


def test_problems_stand_in_the_order_of_the_file(tmp_path, package):
    text = '[[tracks]]\nid = "z"\ntitle = "Z"\nteaches = "Late letters."\nproblems = ["two", "one"]\n' + ONE
    tracks = read_tracks(written(tmp_path, text))
    packages = [named(package, slug) for slug in ("add_one", "one", "two")]
    assert order(arrange(packages, tracks)) == [("Z", ["two", "one"]), ("A", ["add_one"])]
    assert arrange(packages, tracks)[0].teaches == "Late letters."


def test_a_track_has_its_glyph_and_colour_or_plain_ones(tmp_path, package):
    text = (
        ONE + 'colour = 7\nglyph = "ring"\n' + ONE.replace('"a"', '"b"').replace('"A"', '"B"').replace("add_one", "two")
    )
    packages = [package, named(package, "two"), named(package, "three")]
    sections = arrange(packages, read_tracks(written(tmp_path, text)))
    assert [(each.colour, each.glyph) for each in sections] == [(7, "ring"), (2, "track"), (3, "track")]


def test_what_no_track_names_comes_last_and_easy_first(tmp_path, package):
    packages = [named(package, "hard", difficulty="hard"), named(package, "plain"), package]
    sections = arrange(packages, read_tracks(written(tmp_path, ONE)))
    assert order(sections) == [("A", ["add_one"]), ("More", ["plain", "hard"])]


def test_a_track_of_which_nothing_is_served_is_not_shown(tmp_path, package):
    assert order(arrange([named(package, "other")], read_tracks(written(tmp_path, ONE)))) == [("More", ["other"])]


def test_without_a_file_manifests_say_the_track(tmp_path, package):
    assert read_tracks(tmp_path) == ()
    packages = [
        named(package, "b", track="Rings", difficulty="medium"),
        named(package, "c", track="Rings"),
        named(package, "a", track="Waves & more"),
    ]
    assert order(arrange(packages, ())) == [("Rings", ["c", "b"]), ("Waves & more", ["a"])]
    assert [section.id for section in arrange(packages, ())] == ["rings", "waves-more"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tracks = 3", "tracks: Input should be a valid list"),
        ("x", "it is not TOML"),
        (ONE.replace("teaches", "teach"), "unknown key 'tracks.1.teach' (did you mean 'teaches'?)"),
        (ONE.replace("[[tracks]]", "[[track]]"), "unknown key 'track' (did you mean 'tracks'?)"),
        (ONE.replace('id = "a"', 'id = "A B"'), "tracks.1.id: String should match"),
        (ONE.replace('["add_one"]', "[]"), "tracks.1.problems: List should have at least 1 item"),
        (ONE + 'glyph = "rings"\n', "there is no glyph 'rings' (did you mean 'ring'?)"),
        (ONE + "colour = 16\n", "tracks.1.colour: Input should be less"),
        (ONE + "minutes = [1, 2]", "minutes has 2 numbers for 1 problems"),
        (ONE + "minutes = [0]", "tracks.1.minutes.1: Input should be"),
        (ONE + ONE, "the id 'a' is listed 2 times"),
        (ONE + ONE, "the title 'A' is listed 2 times"),
        (ONE.replace('["add_one"]', '["add_one", "add_one"]'), "the problem 'add_one' is listed 2 times"),
        (ONE.replace('id = "a"', 'id = "more"'), "the id 'more' is reserved for problems that no track names"),
    ],
)
def test_a_fault_is_named(tmp_path, text, fault):
    with pytest.raises(TracksInvalid) as raised:
        read_tracks(written(tmp_path, text))
    assert fault in str(raised.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "tracks.toml").write_bytes(b"\xff")
    with pytest.raises(TracksInvalid, match="it cannot be read"):
        read_tracks(tmp_path)


def test_with_a_broken_file_problems_are_served_all_the_same(tmp_path, package):
    catalogue = Catalogue.load(written(tmp_path / "problems", "x"))
    assert "it is not TOML" in str(catalogue.faults[0])
    assert order(catalogue.sections()) == [("Basics", ["add_one"])]


def test_a_problem_that_is_not_served_is_named(tmp_path, package):
    catalogue = Catalogue.load(written(tmp_path / "problems", ONE.replace("add_one", "ad_one")))
    assert catalogue.unknown_in_tracks() == [
        "tracks.toml: track 'a': there is no problem 'ad_one' (did you mean 'add_one'?)"
    ]


def test_a_problem_that_is_published_later_takes_its_place(tmp_path, package):
    text = ONE.replace('["add_one"]', '["late", "add_one"]')
    catalogue = Catalogue.load(written(tmp_path / "problems", text))
    assert order(catalogue.sections()) == [("A", ["add_one"])]
    catalogue.serve(named(package, "late"))
    assert order(catalogue.sections()) == [("A", ["late", "add_one"])]


def test_each_shipped_problem_has_minutes():
    for track in read_tracks(PROBLEMS):
        assert len(track.minutes) == len(track.problems), track.id


async def test_rest_lists_problems_in_this_order_with_their_tracks(start_service, tmp_path, package):
    written(tmp_path / "problems", ONE)
    async with start_service() as service:
        answer = (await service.http.get("/api/v1/problems")).json()
        assert answer["tracks"] == [{"id": "a", "title": "A", "teaches": "B.", "problems": ["add_one"]}]
        extra = named(package, "a_first_by_name")
        service.services[Catalogue].serve(extra)
        answer = (await service.http.get("/api/v1/problems")).json()
        assert [each["slug"] for each in answer["problems"]] == ["add_one", "a_first_by_name"]
        assert [each["title"] for each in answer["tracks"]] == ["A", "More"]


def test_the_shipped_order_is_complete_and_respects_prerequisites():
    catalogue = Catalogue.load(PROBLEMS)
    assert catalogue.faults == []
    assert catalogue.unknown_in_tracks() == []
    shown = [package for section in catalogue.sections() for package in section.packages]
    seen: set[str] = set()
    for package in shown:
        assert set(package.manifest.prerequisites) <= seen, package.slug
        seen.add(package.slug)
    assert shown[0].manifest.difficulty == "easy"
    for section in catalogue.sections():
        assert section.teaches, section.title
        assert section.glyph != "track", section.title
        assert {package.manifest.track for package in section.packages} == {section.title}
    by_place = [package.slug for package in catalogue.by_place()]
    assert by_place[: len(catalogue.sections())] == [section.packages[0].slug for section in catalogue.sections()]
    assert sorted(by_place) == sorted(package.slug for package in shown)
