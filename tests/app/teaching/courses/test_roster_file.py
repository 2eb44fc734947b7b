"""The files that a roster is read from: exports of Canvas and Moodle, and what spreadsheets write."""

import pytest

from app.teaching.courses.roster_file import MOST_ROWS, RosterRow, read_roster

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (101)
    Points Possible,,,,,100.00
"Lovelace, Ada",17,s-1,ada@example.org,Monday,90
"Student, Test",99,,,Monday,
"""


def read(text: str) -> list[RosterRow]:
    rows = read_roster(text)
    assert [each.fault for each in rows] == [""] * len(rows)
    return rows


def test_a_gradebook_of_canvas():
    ada, test = read(CANVAS)
    assert (ada.number, ada.name, ada.given_name, ada.family_name) == (3, "Ada Lovelace", "Ada", "Lovelace")
    assert (ada.external_id, ada.student_number, ada.login) == ("17", "s-1", "ada@example.org")
    assert (ada.email, ada.section, ada.skip) == ("ada@example.org", "Monday", "")
    assert "for tests" in test.skip


def test_the_people_of_canvas():
    [ada, ta] = read("Name,Login ID,SIS ID,Section,Role\nAda Lovelace,ada,s-1,A,Student\nTim,tim,s-2,A,TA\n")
    assert (ada.name, ada.login, ada.student_number, ada.section, ada.role) == (
        "Ada Lovelace",
        "ada",
        "s-1",
        "A",
        "student",
    )
    assert (ta.role, ta.skip) == ("assistant", "")


def test_participants_of_moodle_with_a_line_for_excel():
    heads = 'sep=;\r\n"First name";Surname;"ID number";"Email address";Groups;Roles\r\n'
    [ada] = read(f'\ufeff{heads}Ada;"Lovelace";7;A@B.org;"X, Y";Student\r\n')
    assert (ada.number, ada.name, ada.student_number) == (2, "Ada Lovelace", "7")
    assert (ada.email, ada.section, ada.username, ada.role) == ("a@b.org", "X, Y", "", "student")


def test_a_username_in_an_export_is_no_account_here():
    [row] = read("Username,First name,Surname\nada,Ada,Lovelace\n")
    assert (row.username, row.login) == ("", "ada")
    [own] = read("username,name\nAda,Ada Lovelace\n")
    assert (own.username, own.login) == ("ada", "")


def test_a_teacher_is_skipped():
    [row] = read("Name,Role\nTess,Teacher\n")
    assert row.skip.startswith("has the role 'Teacher'")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MÃ¼ller", '"MÃ¼ller" was probably "Müller"'),
        ("GarÃ§on", '"Garçon"'),
        ("M�ller", "could not be read"),
    ],
)
def test_the_wrong_encoding_is_warned_about(name, words):
    first, second = read(f"name\nAda\n{name}\n")
    assert first.warning == ""
    assert (second.number, words in second.warning) == (3, True)


@pytest.mark.parametrize("name", ["Müller", "João", "Åsa Ñandú", "Ãngela", "李雷", "Zoë"])
def test_other_letters_are_fine(name):
    assert read(f"name\n{name}\n")[0].warning == ""


def test_as_many_people_as_there_may_be_are_read():
    assert len(read("name\n" + "".join(f"p{number}\n" for number in range(MOST_ROWS)))) == MOST_ROWS
