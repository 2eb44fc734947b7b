"""The tests that --quick leaves out, and the order of the others."""

from types import SimpleNamespace

import pytest

from tests import slow_tests

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.slow_tests")


def names(result: pytest.RunResult) -> list[str]:
    return [line.partition("::")[2].split()[0] for line in result.outlines if "::" in line and "PASSED" in line]


def test_a_test_is_slow_by_its_fixture_its_group_or_what_its_module_imports(pytester):
    pytester.makepyfile(
        test_fixtures="""
        import pytest

        @pytest.fixture
        def sandbox(): ...

        @pytest.fixture
        def uses_it(sandbox): ...

        def test_directly(sandbox): ...
        def test_by_another(uses_it): ...
        @pytest.mark.xdist_group("postgresql")
        def test_by_group(): ...
        def test_quick(): ...
        """,
        test_imports="""
        run_on_8_devices = None

        def test_compiles(): ...
        """,
    )
    result = pytester.runpytest_inprocess(*PLUGINS, "-v", "-m", "not slow")
    result.assert_outcomes(passed=1, deselected=4)
    assert names(result) == ["test_quick"]


def test_a_folder_that_keeps_its_order_stays_together_where_its_first_test_was():
    shuffled = ["hostile/b", "app/z", "browser/b", "hostile/a", "app/a", "browser/a", "hostile/c"]
    items = [SimpleNamespace(path=slow_tests.TESTS / name) for name in shuffled]
    written = {id(item): number for number, item in enumerate(sorted(items, key=lambda item: item.path))}
    unshuffled = [str(item.path.relative_to(slow_tests.TESTS)) for item in slow_tests._unshuffled(items, written)]
    assert unshuffled == ["hostile/a", "hostile/b", "hostile/c", "app/z", "browser/a", "browser/b", "app/a"]


def test_every_file_that_is_named_is_there():
    assert [
        path for path in (*slow_tests.PATHS, *slow_tests.LONG_TESTS) if not (slow_tests.TESTS / path).exists()
    ] == []


def test_who_starts_a_sandbox_and_is_not_slow_fails(pytester):
    program = pytester.path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    pytester.makepyfile(
        f"""
        import subprocess

        def test_starts_it(): subprocess.run([{str(program)!r}], check=True)
        def test_starts_another(): subprocess.run(["true"], check=True)
        """
    )
    result = pytester.runpytest_inprocess(*PLUGINS)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*This test starts bwrap, so it is slow: *tests/slow_tests.py*"])


def test_a_file_with_a_long_test_comes_before_those_without_a_group():
    files = ["app/entry/test_main.py", slow_tests.LONG_TESTS[0], "app/test_settings.py"]
    items = [
        SimpleNamespace(path=slow_tests.TESTS / name, nodeid=name, get_closest_marker=lambda name: None)
        for name in files
    ]
    assert [item.nodeid for item in slow_tests.order(items)] == [files[1], files[0], files[2]]


def test_groups_stay_together_and_the_longest_come_first(pytester):
    pytester.makepyfile(
        """
        import pytest

        def in_group(name): return pytest.mark.xdist_group(name)

        @in_group("a")
        def test_a1(): ...
        def test_alone(): ...
        @in_group("a")
        def test_a2(): ...
        @in_group("contract")
        def test_long(): ...
        @in_group("docs")
        def test_longest(): ...
        """
    )
    result = pytester.runpytest_inprocess(*PLUGINS, "-v")
    assert names(result) == ["test_longest", "test_long", "test_a1", "test_a2", "test_alone"]


def test_tests_that_share_a_fixture_of_their_module_run_in_one_process(pytester):
    pytester.makepyfile(
        test_shared="""
        import pytest

        @pytest.fixture(scope="module")
        def built(): ...

        @pytest.fixture
        def uses_it(built): ...

        def test_directly(built): ...
        def test_alone(): ...
        def test_by_another(uses_it): ...
        @pytest.mark.xdist_group("postgresql")
        def test_of_a_group(built): ...
        """
    )
    items, _ = pytester.inline_genitems(*PLUGINS)
    groups = {item.name: slow_tests.group_of(item) for item in items}
    shared = "test_shared.py"
    assert groups == {
        "test_directly": shared,
        "test_alone": None,
        "test_by_another": shared,
        "test_of_a_group": "postgresql",
    }
