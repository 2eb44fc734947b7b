import pytest

from grader.inputs.xla_flags import flags_of_source

A, B = "--xla_gpu_a=1", "--xla_gpu_b=2"
HEAD = 'import os\nENV = os.environ\nname = "--xla_gpu_a=1"\nn = 1\n'


def options(source: str) -> list[tuple[str, str, int]]:
    return [(each.name, each.value, each.line) for each in flags_of_source(HEAD + source).options]


@pytest.mark.parametrize(
    "source",
    [
        'os.environ["XLA_FLAGS"] = "--xla_gpu_a=1"',
        "ENV['XLA_FLAGS'] = '--xla_gpu_a=1'",
        'os.environ["XLA_FLAGS"] += " --xla_gpu_a=1"',
        'os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_a=1"',
        'os.environ["XLA_FLAGS"] = (os.getenv("XLA_FLAGS") or "") + " --xla_gpu_a=1"',
        'os.environ["XLA_FLAGS"] = f"--xla_gpu_a={n} " + os.environ["XLA_FLAGS"]',
        'os.environ["XLA_FLAGS"] = f"--xla_gpu_a={n}"',
        'os.environ["XLA_FLAGS"] = " ".join(["", "--xla_gpu_a=1"])',
        'os.environ["XLA_FLAGS"] = name',
        'os.environ.setdefault("XLA_FLAGS", "--xla_gpu_a=1")',
        'os.environ.update({"OTHER": "x", "XLA_FLAGS": "--xla_gpu_a=1"})',
        'os.environ.update(XLA_FLAGS="--xla_gpu_a=1")',
    ],
)
def test_a_flag_is_found_however_it_is_written(source: str):
    assert options(source) == [("xla_gpu_a", "1", 5)]
    assert flags_of_source(HEAD + source).unread == ()


def test_each_flag_has_its_own_line():
    source = 'os.environ["XLA_FLAGS"] = (\n    "--xla_gpu_a=1 "\n    "--xla_gpu_b=2"\n)\n'
    assert options(source) == [("xla_gpu_a", "1", 6), ("xla_gpu_b", "2", 7)]


def test_a_later_statement_adds_to_the_flags_or_replaces_them():
    first, key = f'os.environ["XLA_FLAGS"] = "{A}"\n', 'os.environ["XLA_FLAGS"]'
    assert len(options(first + f'{key} += " {B}"')) == 2
    assert len(options(first + f'{key} = {key} + " {B}"')) == 2
    assert options(first + f'{key} = "{B}"') == [("xla_gpu_b", "2", 6)]


@pytest.mark.parametrize(
    "source",
    [
        'os.environ["XLA_FLAGS"] = open("flags").read()',
        'os.environ["XLA_FLAGS"] = "flags.txt"',
        'os.environ["XLA_FLAGS"] = "--xla_gpu_a=" + str(2 * n)',
        'for name in "ab": pass\nos.environ["XLA_FLAGS"] = name',
        'if n:\n    os.environ["XLA_FLAGS"] = "--xla_gpu_a=1"',
        'def f():\n    os.environ["XLA_FLAGS"] = "--xla_gpu_a=1"',
    ],
)
def test_what_cannot_be_read_without_running_it_is_named(source: str):
    found = flags_of_source(HEAD + source)
    assert found.options == ()
    assert found.unread in [(5,), (6,)]


@pytest.mark.parametrize(
    "source",
    [
        'import os\nos.environ["XLA_FLAGS"] = "',
        'os.environ["XLA_FLAGS"] = ' + "(" * 5000 + '""' + ")" * 5000,
        'os.environ["XLA_FLAGS"] = ' + '"a"+' * 20_000 + '""',
        "XLA_FLAGS = 1",
        'print("XLA_FLAGS")\0',
    ],
    ids=["syntax", "brackets", "sum", "another name", "null"],
)
def test_a_source_that_cannot_be_read_has_no_flags(source: str):
    assert flags_of_source(source).options == ()


def test_texts_that_double_are_given_up():
    doubled = 'a = "--xla_gpu_a=1 "\n' + "a = a + a\n" * 100 + 'import os\nos.environ["XLA_FLAGS"] = a\n'
    found = flags_of_source(doubled)
    assert (found.options, found.unread) == ((), (103,))


def test_a_source_that_sets_flags_again_and_again_is_not_read_to_its_end():
    statements = 1_000
    source = 'flags = "' + "--xla_a " * 900 + '"\n' + 'os.environ["XLA_FLAGS"] += flags\n' * statements
    found = flags_of_source(source)
    assert len(found.options) == 100
    assert len(found.unread) == statements - 50
