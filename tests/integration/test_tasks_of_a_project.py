"""How the tests are run, and what else one does in every project: documents, targets and scripts say it, not code."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

CODE = {
    "shop/runs.py": (
        '"""Runs of tests."""\n\n\nclass TestRuns:\n    """The runs of the tests that run."""\n\n'
        '    def run_tests(self):\n        """Run the tests."""\n        return [test.run() for test in self.tests]\n'
    ),
    "shop/build.py": 'def build_project(project):\n    """Build the project."""\n    return project.build()\n',
    "tests/test_runs.py": "def test_runs_run_the_tests():\n    assert TestRuns().run_tests()\n",
}
MAKEFILE = {"Makefile": "build: clean\n\tpython -m build\n\ntest-slow:\n\tpytest --slow\n\ntest: build\n\tpytest\n"}
PACKAGE = {
    "package.json": '{\n  "scripts": {\n    "build": "tsc",\n    "test": "jest"\n  },\n'
    '  "dependencies": {\n    "bootstrap": "^5.3.0"\n  }\n}\n'
}
CONTRIBUTING = {
    "CONTRIBUTING.md": "# Contributing\n\n## Testing assertions\n\nSay what you test.\n\n## Running the tests\n\n"
    "Install everything, and then:\n\n```sh\npython -m pytest\n```\n\n## Pull requests\n\nThey have tests.\n"
}
SCRIPT = {"scripts/test.sh": "#!/bin/sh\nset -e\ncargo test --all\n"}
README = {"README.md": "# Shop\n\nA shop.\n\n## Commands\n\n```sh\n# to try it\nyarn test\n```\n"}
TASKFILE = {"Taskfile.yml": "version: 3\ntasks:\n  ui:build:\n    cmds: [vite]\n  py:test:\n    cmds: [pytest]\n"}
INCLUDED = {"Makefile": "include tests.mk\n", "tests.mk": "test-slow:\n\tbats slow\n\ntest:\n\tbats fast\n"}


def first(root: Path, files: dict[str, str], text: str) -> tuple[str, str]:
    write_files(root, {**CODE, **files})
    with Workspace.open(root) as workspace:
        workspace.index()
        hit = workspace.search(text).code[0]
    return hit.path, hit.preview.split("\n")[0].strip()


@pytest.mark.parametrize(
    ("files", "path", "line"),
    [
        (MAKEFILE, "Makefile", "test: build"),
        (PACKAGE, "package.json", '"test": "jest"'),
        ({**MAKEFILE, **CONTRIBUTING}, "CONTRIBUTING.md", "## Running the tests"),
        (SCRIPT, "scripts/test.sh", "#!/bin/sh"),
        (README, "README.md", "yarn test"),
        (TASKFILE, "Taskfile.yml", "py:test:"),
        (INCLUDED, "tests.mk", "test:"),
    ],
    ids=["make", "npm", "document", "script", "command", "a task of a part", "an included file"],
)
@pytest.mark.parametrize("text", ["how do I run the tests", "How to run all the unit tests?", "run the test suite"])
def test_who_asks_how_the_tests_are_run_gets_what_runs_them(
    tmp_path: Path, files: dict[str, str], path: str, line: str, text: str
) -> None:
    assert first(tmp_path, files, text) == (path, line)


COMPOSER = {"composer.json": '{\n  "scripts": {\n    "build": "box compile",\n    "test": "phpunit"\n  }\n}\n'}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("npm run build", "package.json"),
        ("composer test", "composer.json"),
        ("make test", "Makefile"),
        ("make project", "shop/build.py"),
    ],
)
def test_a_command_that_runs_a_target_leads_to_it(tmp_path: Path, text: str, path: str) -> None:
    assert first(tmp_path, {**PACKAGE, **COMPOSER, **MAKEFILE}, text)[0] == path


def test_a_command_of_the_project_itself_leads_to_what_declares_it(tmp_path: Path) -> None:
    files = {
        "app/Restock.php": "<?php\nclass Restock extends Command\n{\n"
        "    protected $signature = 'shop:restock {--all}';\n}\n",
        "app/Stock.php": "<?php\nclass ShopStock\n{\n    // Restocks the shop\n    function restock() {}\n}\n",
    }
    assert first(tmp_path, files, "php artisan shop:restock")[0] == "app/Restock.php"


def test_a_package_that_is_called_like_a_task_is_none(tmp_path: Path) -> None:
    assert first(tmp_path, PACKAGE, "how do I install the dependencies")[1] != '"bootstrap": "^5.3.0"'


def test_who_asks_how_the_project_is_built_gets_the_target(tmp_path: Path) -> None:
    assert first(tmp_path, {**MAKEFILE, **PACKAGE}, "how do I build the project")[0] in ("Makefile", "package.json")


@pytest.mark.parametrize(
    "text", ["how are runs of tests stored", "where does TestRuns run the tests", "run tests after a retry"]
)
def test_a_question_about_the_code_that_runs_tests_is_about_code(tmp_path: Path, text: str) -> None:
    assert first(tmp_path, {**MAKEFILE, **CONTRIBUTING}, text)[0] not in ("Makefile", "CONTRIBUTING.md")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("Makefile", "test: test\n"),
        ("README.md", "# Running the tests\n"),
        ("CONTRIBUTING.md", "`make a/b/c " * 40 + "\n"),
        ("package.json", '  "a:b:c:d:test-x": "y",\n'),
    ],
)
def test_files_that_are_made_to_be_slow_take_little_time(tmp_path: Path, file: str, line: str) -> None:
    write_files(tmp_path, {**CODE, file: line * (400_000 // len(line))})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        started = time.process_time()
        workspace.search("how do I run the tests")
        assert time.process_time() - started < 10  # linear: some tenths of a second


def test_a_filter_for_files_holds_for_what_says_how_a_task_is_done(tmp_path: Path) -> None:
    write_files(tmp_path, {**CODE, **MAKEFILE})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        hits = workspace.search("how do I run the tests", globs=["shop/**"]).code
    assert {hit.path.split("/")[0] for hit in hits} == {"shop"}
