"""Which boxes are questions, and what the page says to an answer."""

import pytest

from app.learning.lessons.questions import QuestionUnfit, answer_of, hint_of, read_question, reply_to

NUMBER = ("number", ["How large?", "4,096 bytes", "It is.", "Really."])
FLOAT = ("number", ["Which part?", "0.875", "It is."])
CHOICE = ("choice", ["Which?", "- [ ] all_gather\n- [x] the one\n  that `sums`\n- [ ] neither", "It is."])
SPEC = ("spec", ["Which spec?", "`P('data', None)`", "It is."])


def test_a_question_has_its_answer_and_an_explanation():
    question = read_question(*NUMBER)
    assert (question.text, question.right, question.explanation) == ("How large?", 4096, "It is.\n\nReally.")
    assert (question.spec.kind, question.spec.unit) == ("number", "bytes")
    question = read_question(*CHOICE)
    assert question.spec.choices == ["all_gather", "the one that `sums`", "neither"]
    assert question.right == "the one that `sums`"


@pytest.mark.parametrize(
    ("question", "answer", "hint"),
    [
        (NUMBER, "4,096 bytes", "Write a number such as 12582912, 12 MiB or 12.6 MB."),
        (FLOAT, "0.875", "Write a number such as 42 or 1_000_000 or 1e6."),
        (SPEC, "`P('data')`", "Write a spec such as P('fsdp', None), P(('data', 'fsdp')) or P()."),
    ],
)
def test_the_answer_and_a_hint_are_shown(question, answer, hint):
    assert answer_of(read_question(*question)) == answer
    assert hint_of(read_question(*question)) == hint


@pytest.mark.parametrize(
    ("question", "written", "outcome", "message"),
    [
        (NUMBER, "4096", "right", "That is right."),
        (NUMBER, " 4 KiB", "right", "That is right."),
        (NUMBER, "4100", "right", "That is right."),
        (NUMBER, "4200", "wrong", "This is not the right answer. Try again, or open the answer below."),
        (NUMBER, "4200 bytes", "wrong", "This is not the right answer. Try again, or open the answer below."),
        (NUMBER, "5 KiB", "wrong", "This is not the right answer. It was read as 5120 bytes. Try again, or"),
        (NUMBER, "4,096", "right", "That is right."),
        (NUMBER, "many", "unfit", "'many' is not a number. Write a number such as"),
        (FLOAT, "0.88", "right", "That is right."),
        (FLOAT, "0.9", "wrong", "This is not the right answer."),
        (CHOICE, "2", "right", "That is right."),
        (CHOICE, "1", "wrong", "This is not the right answer. Try again, or open the answer below."),
        (CHOICE, "0", "unfit", "Choose one of the 3 answers."),
        (CHOICE, "4", "unfit", "Choose one of the 3 answers."),
        (CHOICE, "²", "unfit", "Choose one of the 3 answers."),
        (SPEC, 'PartitionSpec("data")', "right", "That is right."),
        (SPEC, "P(None, 'data')", "wrong", "This is not the right answer. Try again"),
        (SPEC, "data", "unfit", "'data' is not a PartitionSpec."),
    ],
)
def test_an_answer_is_right_wrong_or_cannot_be_read(question, written, outcome, message):
    reply = reply_to(read_question(*question), written)
    assert reply is not None
    assert reply.outcome == outcome
    assert reply.message.startswith(message)


@pytest.mark.parametrize(
    ("kind", "answer", "written", "slip"),
    [
        ("number", "4,096 bytes\n- 512 bytes: That is one\n  shard.", "0.5 KiB", "That is one shard."),
        ("number", "4,096 bytes\n- 512 bytes: That is one shard.", "500", ""),
        ("choice", "- [ ] one\n  > It has\n  > two.\n- [x] two", "1", "It has two."),
        ("choice", "- [ ] one\n- [ ] three\n  > It has two.\n- [x] two", "1", ""),
        ("spec", "`P('data')`\n- `P()`: It is *whole*.", "P(None)", "It is *whole*."),
    ],
)
def test_a_wrong_answer_shows_something(kind, answer, written, slip):
    reply = reply_to(read_question(kind, ["Which?", answer, "It is."]), written)
    assert (reply.outcome, reply.slip) == ("wrong", slip)


@pytest.mark.parametrize("written", ["", "  "])
def test_without_an_answer_there_is_no_reply(written):
    assert reply_to(read_question(*NUMBER), written) is None


@pytest.mark.parametrize(
    ("kind", "paragraphs", "fault"),
    [
        ("", NUMBER[1], "needs its kind after 'question': number, choice, spec"),
        ("numbers", NUMBER[1], "did you mean 'number'?"),
        ("number", NUMBER[1][:2], "needs three paragraphs or more"),
        ("number", ["How large?", "4 bytes\n- 8 bytes", "It is."], "has '- 8 bytes' below its answer"),
        ("number", ["How large?", "4 bytes\n- 4 bytes: No.", "It is."], "says of its right answer what a wrong one"),
        ("choice", ["Which?", "- [x] one\n  > No.\n- [ ] two", "It is."], "says of its right answer what a wrong one"),
        ("number", ["How large?", "It has 4,096 bytes.", "It is."], "has 'It has 4,096 bytes.' as its answer"),
        ("choice", ["Which?", "- [x] one", "It is."], "needs a list of choices"),
        ("choice", ["Which?", "- [x] one\n- [x] two", "It is."], "needs a list of choices"),
        ("choice", ["Which?", "- [ ] one\n- [ ] two", "It is."], "needs a list of choices"),
        ("choice", ["Which?", "- [x] one\n- two", "It is."], "needs a list of choices"),
        ("choice", ["Which?", "- [x] one\n- [ ] one", "It is."], "at least two different choices"),
        ("spec", ["Which?", "`data`", "It is."], "has an answer that cannot be read: 'data' is not a PartitionSpec"),
    ],
)
def test_what_a_question_needs_is_named(kind, paragraphs, fault):
    with pytest.raises(QuestionUnfit) as unfit:
        read_question(kind, paragraphs)
    assert fault in str(unfit.value)
