from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.memory.commands import are_alike, covers, files_written, is_remedy, is_revert, parse_command


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_a.py",
        "python -m pytest -q tests/test_a.py",
        "python3 -m pytest tests/test_a.py -x --tb=short",
        "uv run pytest tests/test_a.py 2>&1 | tail -20",
        "cd /repo && FOO=1 timeout 60s .venv/bin/pytest -vv tests/test_a.py; echo $?",
        "poetry run python -m pytest tests/test_a.py --color=yes",
    ],
)
def test_a_program_is_known_however_it_is_reached(command: str) -> None:
    (step,) = parse_command(command).work
    assert (step.program, step.base, step.targets) == ("pytest", ("pytest",), ("tests/test_a.py",))


@pytest.mark.parametrize(
    ("failed", "succeeded", "is_covered"),
    [
        ("pytest tests/a.py", "pytest tests/a.py -q", True),
        ("pytest tests/a.py", "pytest", True),
        ("pytest tests/a.py", "pytest tests", True),
        ("pytest tests/a.py", "pytest tests/b.py", False),
        ("pytest", "pytest tests/b.py", False),
        ("npm run test", "npm test", True),
        ("npm test", "npm run build", False),
        ("go test ./pkg/cache -run TestX", "go test ./...", True),
        ("make all", "make clean", False),
        ("cargo test", "cargo build", False),
        ("git commit -m 'one'", "git commit -m 'two'", True),
        ("./gradlew test --info", "gradle test", True),
    ],
)
def test_a_command_covers_what_is_the_same_or_narrower(failed: str, succeeded: str, is_covered: bool) -> None:
    (old,), (new,) = parse_command(failed).work, parse_command(succeeded).work
    assert covers(new, old) is is_covered


def test_a_narrower_command_covers_the_test_that_failed() -> None:
    (old,), (new,) = parse_command("pytest").work, parse_command("pytest tests/test_a.py::test_b").work
    assert covers(new, old, file="tests/test_a.py", test="test_b")
    assert not covers(new, old, file="tests/test_a.py", test="test_c")
    (new,) = parse_command("go test ./internal/cache/...").work
    (old,) = parse_command("go test").work
    assert covers(new, old, file="internal/cache/cache_test.go")


@pytest.mark.parametrize("command", ["pytest | tail -5", "make || true", "npm test; echo $?", "a\nb"])
def test_the_exit_code_of_a_command_may_be_that_of_something_else(command: str) -> None:
    assert parse_command(command).is_masked


@pytest.mark.parametrize("command", ["pytest", "cd /repo && pytest", "cd web; npm test", "make 2>&1", "make > log.txt"])
def test_the_exit_code_of_a_command_may_be_its_own(command: str) -> None:
    assert not parse_command(command).is_masked


def test_an_output_of_which_only_some_lines_are_shown_is_told() -> None:
    assert parse_command("pytest | grep -i passed").is_filtered
    assert not parse_command("pytest | tail -3").is_filtered


@pytest.mark.parametrize(
    "command", ["git checkout -- a.py", "git restore .", "git reset --hard", "git stash", "git stash -u"]
)
def test_commands_that_take_edits_back_are_known(command: str) -> None:
    assert is_revert(command)


@pytest.mark.parametrize("command", ["git checkout main", "git checkout -b topic", "git stash pop", "git status"])
def test_commands_that_keep_edits_are_known(command: str) -> None:
    assert not is_revert(command)


@pytest.mark.parametrize(
    "command",
    [
        "npm ci", "pip install -r requirements.txt", "uv sync", "docker compose up -d db", "alembic upgrade head",
        "git submodule update --init", "npx prisma generate", "make proto", "chmod +x a.sh", "rm -rf node_modules",
        "go mod tidy", "bundle install", "apt-get install -y libpq-dev", "cp .env.example .env",
    ],
)  # fmt: skip
def test_commands_that_change_what_others_run_in_are_known(command: str) -> None:
    assert is_remedy(command)


@pytest.mark.parametrize("command", ["npm test", "pytest", "make", "cargo build", "git push", "ls"])
def test_other_commands_change_nothing_that_others_run_in(command: str) -> None:
    assert not is_remedy(command)


def test_files_that_a_command_writes_are_told() -> None:
    assert files_written("sed -i 's/a/b/' src/a.py") == ("src/a.py",)
    assert files_written("cat > src/b.ts <<'EOF'\nx\nEOF") == ("src/b.ts",)
    assert files_written("pytest > /tmp/log.txt") == ()
    assert files_written("cat src/a.py") == ()
    assert files_written("sed -i 's/a/b/' /tmp/shop/src/a.py", "/tmp/shop") == ("src/a.py",)
    assert files_written("pytest > /tmp/log.txt", "/tmp/shop") == ()


@pytest.mark.parametrize(
    ("failed", "succeeded", "alike"),
    [
        ("ruff check src", "uv run ruff check src", True),
        ("python a.py", "python3 a.py", True),
        ("npm run storybook:build", "npm run build-storybook", True),
        ("docker-compose up", "docker compose up", True),
        ("pytest", "pytest", False),
        ("npm test", "git status", False),
        ("python a.py", "node b.js", False),
    ],
)
def test_two_ways_of_doing_the_same_are_told(failed: str, succeeded: str, alike: bool) -> None:
    (old,), (new,) = parse_command(failed).work, parse_command(succeeded).steps
    assert are_alike(old, new) is alike


def test_the_text_of_a_script_in_a_command_is_not_taken_for_commands() -> None:
    (step,) = parse_command("python - <<'EOF'\nimport os; os.system('rm -rf x') && print(1)\nEOF").steps
    assert step.is_inline
    assert parse_command("python -c 'import a; a.b()'").steps[0].is_inline


@settings(max_examples=200, deadline=None)
@given(
    st.text()
    | st.lists(st.sampled_from(["pytest", "&&", "'", '"', "|", "<<EOF", "\n", "-k", ">", "2>&1", "("])).map(" ".join)
)
def test_any_text_is_taken_for_a_command(text: str) -> None:
    command = parse_command(text)
    assert set(command.work) <= set(command.steps)
    is_remedy(text)
    is_revert(text)
    files_written(text)
