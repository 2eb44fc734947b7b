"""Pages show the phases of a grading in plain words, with and without JavaScript."""

import re
from pathlib import Path

import grader
from app.grading.attempts.phases import WORDS, in_words

SOURCES = Path(grader.__file__).parent


def test_every_phase_of_the_judge_has_words():
    phases = {
        re.split(r"\{", phase)[0].strip()
        for file in SOURCES.rglob("*.py")
        for phase in re.findall(r'\.progress\(\s*f?"([^"]+)"', file.read_text())
    }
    assert len(phases) > 5
    assert phases <= WORDS.keys()


def test_what_follows_the_words_of_a_phase_stays():
    assert in_words("case 2 of 5") == "running your code on case 2 of 5"
    assert in_words("exporting for fsdp=8") == "exporting your program for fsdp=8"
    assert in_words("importing") == "importing your code"


def test_an_unknown_phase_stays_as_it_is():
    assert in_words("casework") == "casework"
    assert in_words("choosing a word") == "choosing a word"
