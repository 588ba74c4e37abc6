"""What a shell command does, as far as memory asks: which programs run, on what, and whether another run does the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple
from zlib import crc32

from cairn.memory.linear import linear

_MAX_CHARS = 4_000
_MAX_STEPS = 20


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that look at things: that they find nothing is an answer, and errors in what they print are not theirs.
READERS = _words(
    "grep egrep fgrep rg ag ack find fd ls tree cat bat head tail less more sed awk cut sort uniq wc tr jq yq xxd od file "
    "stat du df echo printf pwd which type whereis hash env printenv date whoami id ps pgrep lsof ss netstat test [ [[ diff "
    "cmp comm sleep true false history man tldr strings nl column seq basename dirname readlink realpath journalctl dmesg "
    "curl wget http ping nslookup dig host nc read wait kill pkill killall jobs cd export set unset source . alias pushd "
    "popd shopt ulimit trap return exit break continue if then else fi for do done while until case esac { } ! : mkdir touch "
    "cp mv rm ln tee xargs open code"
)
_READING: dict[str, frozenset[str]] = {
    "git": _words(
        "log show diff status blame grep ls-files ls-tree rev-parse rev-list merge-base branch tag remote describe "
        "cat-file config reflog shortlog for-each-ref symbolic-ref check-ignore bisect stash"
    ),
    "gh": _words("run pr issue api auth repo release workflow"),
    "docker": _words("logs ps inspect images info version port top stats"),
    "docker-compose": _words("logs ps"),
    "kubectl": _words("logs get describe"),
    "systemctl": _words("is-active is-enabled is-failed status"),
    "npm": _words("ls list view info outdated audit why config"),
    "pip": _words("show list freeze check"),
    "brew": _words("list info"),
    "dpkg": _words("-s -l -L"),
    "redis-cli": _words("ping"),
}
# What comes behind a pipe and only shortens the output; the exit code is then its own.
_FILTERS = _words("tail head grep egrep rg sed awk tee less cat sort uniq wc cut tr column nl")
_PICKERS = _words("grep egrep rg sed awk wc cut")
_WRAPPERS = _words("sudo time env nice ionice command exec nohup xvfb-run stdbuf unbuffer setsid caffeinate doas")
_RUNNERS: tuple[tuple[str, ...], ...] = (
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run"), ("npx",),
    ("bunx",), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("npm", "exec"), ("bundle", "exec"), ("uvx",),
    ("mise", "exec"), ("direnv", "exec", "."), ("nix", "develop", "-c"), ("python", "-m"), ("pipx", "run"),
)  # fmt: skip
_RUNNER_VALUES = _words("--with --extra --group --python -p --package --project --directory --env-file")
_SAME = {
    "python3": "python", "py": "python", "pip3": "pip", "gradlew": "gradle", "mvnw": "mvn", "py.test": "pytest",
    "nodejs": "node", "gmake": "make", "ruby3": "ruby", "dmypy": "mypy",
}  # fmt: skip
_QUIET = re.compile(
    r"-(?:v+|q+|x|s|vv?s|sv|xvs|vx|xv|qx|xq|ra|rA|rf|rs|B|U|l|j[0-9]*)|--(?:verbose|quiet|silent|no-header|tb|color|colors|no-color"
    r"|no-colour|maxfail|nocapture|lf|ff|last-failed|failed-first|ci|watch|watchAll|no-cache|reporter|offline|console|stacktrace"
    r"|info|no-daemon|runInBand|no-watch|bail|pretty|output-on-failure|exitfirst|no-cov|durations|no-summary|format|progress"
    r"|no-progress|ansi|show-error-codes|message-format|no-fail-fast|fail-fast|rerun-tasks|parallel|no-coverage|silent)(?:=.*)?"
    r"|-(?:count|timeout|race|p)=.*|-race|-ntp|-[0-9]+|--"
)
_QUIET_PAIRS = _words("-p -n -j --tb --color --maxfail --reporter --parallel --jobs --format -o")
_SELECTORS = _words(
    "-k -t -run -m --filter --tests --testNamePattern --test-name-pattern -g --grep -R --test -e --only --name "
    "--testPathPattern --testcase -R"
)
_SELECTOR = re.compile(r"(?:-Dtest|-run|--filter|--tests|--testNamePattern|--testPathPattern|-k|-t)=(?P<value>.+)")
_PATH = r"[\w@.~+\\/\[\]*:()$-]*(?:/|::|\.[a-z]{1,5}\b|\.\.\.)[\w@.~+\\/\[\]*:()$-]*|\."
_RUN_ON = frozenset({"test", "run", "check", "build", "exec", "lint", "nextest"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&", "(", ")", ";;", "\n"})
_SEPARATORS = re.compile(r"\n+(?=\S)")
_HEREDOC = re.compile(r"<<-?\s*['\"\\]?\w+['\"]?")

_REVERTS = (
    r"\bgit\s+(?:checkout\s+(?:--\s|\.|HEAD\b|\S+\.\w)|restore\b|reset\s+--hard"
    r"|stash(?:\s*$|\s*[;&|]|\s+(?:push|save|-))|revert\b|clean\s)"
)
_REMEDIES = (
    r"\b(?:(?:pip3?|uv pip|poetry|pipenv|pdm|conda|mamba|brew|apt|apt-get|gem|cargo|go|rustup|pipx|opam|cabal|luarocks|npm|pnpm|yarn|bun"
    r"|composer|bundle|mix|pod|flutter|dart|asdf|mise|nvm|sdk|corepack|dotnet|nuget|helm|terraform|tofu|ansible-galaxy|pre-commit"
    r"|playwright|playwright-core|puppeteer) (?:-\S+ )*(?:install|i|ci|add|get|update|upgrade|restore|sync|lock|fetch|mod (?:tidy|download)"
    r"|generate|deps\.get|local\.hex|component add|target add|use|enable|init|dependency update|tool install|pub get|require|rebuild)\b"
    r"|uv (?:sync|lock|add)\b|yarn(?: install)?$|bundle$|prisma (?:generate|migrate|db)|docker[ -]compose (?:up|start|build|pull|down|restart)"
    r"|docker (?:start|run|build|pull|login|network|volume)|systemctl (?:start|restart)|service \S+ (?:start|restart)|(?:alembic|flask db) upgrade"
    r"|manage\.py (?:migrate|collectstatic|makemigrations)|rails db:\w+|rake db:\w+|artisan migrate|createdb\b|dropdb\b|initdb\b"
    r"|git submodule (?:update|init)|git lfs (?:pull|install)|make (?:\w*gen\w*|proto\w*|deps|setup|bootstrap|install|clean|distclean|configure)"
    r"|go generate|cargo clean|(?:npm|pnpm|yarn)(?: run)? (?:generate|codegen|clean|setup|bootstrap|prebuild)|buf generate|chmod |chown |mkdir |ln -s"
    r"|redis-server|pg_ctl|rm -rf? \S*(?:cache|build|dist|target|node_modules|\.next|\.pytest_cache|\.mypy_cache|__pycache__|\.venv|lock)\S*"
    r"|kill(?:all)? |pkill |fuser -k|export \w+=|cp \.env\S* |npx playwright install|poetry lock|npm cache clean|gradle\w* --stop"
    r"|cmake -[BS]|\./configure|meson setup|autoreconf|dotnet restore|xcode-select|sdkmanager|rustup default|nvm use|ulimit |minikube start"
    r"|kind create|kubectl apply|gcloud auth|aws sso login|gh auth|direnv allow|mise trust|dotenv|(?:bin|scripts?)/\S*(?:setup|bootstrap|gen)\S*)"
)
_WRITES = (
    r"(?:^|[;&|\s])(?:sed\s+(?:-\w+\s+)*-i|perl\s+-\w*i|cat\s*>>?|tee\s|ed\s|patch\s|git\s+apply|git\s+am|awk\s+-i)"
    r"|>>?\s*[\w./-]+\.\w+|write_text\(|open\([^)]*['\"]w['\"]"
)
_WRITE_TARGET = r"(?:>>?\s*|tee\s+(?:-a\s+)?|(?:-i\S*|-pi\S*)\s[^\n]*?\s)([\w./@+-]*[\w@+-]\.\w{1,6})(?:$|[\s;&|<])"


class Step(NamedTuple):
    """One program that a command runs.

    Attributes:
        program: its name, however it is reached: `pytest` for `uv run python -m pytest`.
        base: the words that say what is done, without what only changes the output.
        targets: the paths and names of tests that it is done to; empty for all.
        raw: the words as they were written, without those behind a pipe.
    """

    program: str
    base: tuple[str, ...]
    targets: tuple[str, ...]
    raw: tuple[str, ...]

    @property
    def way(self) -> tuple[str, ...]:
        """How it is done: all words but those that only change the output, and the targets."""
        return tuple(word for word in self.raw if word not in self.targets and not _QUIET.fullmatch(word))

    @property
    def is_reading(self) -> bool:
        """Whether it only looks at things, or asks a question by its exit code."""
        if self.program in READERS:
            return True
        reading = _READING.get(self.program, frozenset())
        return len(self.base) > 1 and (
            self.base[1] in reading or self.base[1] in ("--version", "--help", "-h", "version")
        )

    @property
    def is_inline(self) -> bool:
        """Whether the program is written in the command itself: a probe rather than a thing that is done again."""
        return bool({"-c", "-e", "-", "--eval", "-r"} & set(self.raw[1:4])) and self.program in (
            "python", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "lua", "Rscript",
        )  # fmt: skip


class Command(NamedTuple):
    """A shell command, taken apart.

    Attributes:
        steps: the programs that do the work.
        is_masked: its exit code may be that of something else: of what stands behind a pipe, `||` or `;`.
        is_filtered: only some lines of its output are shown, so that it shows no error means little.
        folders: that it enters.
    """

    steps: tuple[Step, ...]
    is_masked: bool
    is_filtered: bool
    folders: tuple[str, ...]

    @property
    def work(self) -> tuple[Step, ...]:
        """The steps that do more than look at things."""
        return tuple(step for step in self.steps if not step.is_reading)


@lru_cache(maxsize=256)
def parse_command(text: str) -> Command:
    """Return what a command runs; what cannot be parsed is split at spaces."""
    tokens = _tokens(text)
    steps: list[Step] = []
    is_masked = is_filtered = False
    before = ""
    for operator, words in _parts(tokens):
        is_filter = operator in ("|", "|&") and bool(words) and words[0] in _FILTERS
        is_filtered = is_filtered or (is_filter and words[0] in _PICKERS)
        is_masked = is_masked or operator == "||" or (operator in ("|", "|&") and bool(steps))
        is_masked = is_masked or (operator in (";", "\n") and bool(steps) and before not in ("cd", "export", "set"))
        if not is_filter and words and (step := _step(words)) is not None:
            steps.append(step)
            before = step.program
    folders = tuple(
        step.raw[1] for step in steps if step.program == "cd" and len(step.raw) > 1 and step.raw[1][:1] != "/"
    )
    return Command(tuple(steps[:_MAX_STEPS]), is_masked, is_filtered, folders)


def _tokens(text: str) -> list[str]:
    text = text[:_MAX_CHARS]
    if here := _HEREDOC.search(text):
        first_line_end = text.find("\n", here.end())
        body = text[here.end() :]
        text = text[: here.start()] + (text[here.end() : first_line_end] if first_line_end >= 0 else "")
        text += f" :heredoc{crc32(body.encode()):x}"
    text = _SEPARATORS.sub(" ; ", text.replace("\\\n", " ").strip())
    lexer = shlex.shlex(text, posix=True, punctuation_chars="&|;<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed
        return text.split()


def _parts(tokens: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the operator before each command, and its words without redirections."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token in _OPERATORS:
            parts.append((token, []))
        elif token and set(token) <= set("<>&|"):
            if parts[-1][1] and parts[-1][1][-1] in ("1", "2"):
                parts[-1][1].pop()
            skip = True
        else:
            parts[-1][1].append(token)
    return parts


def _step(words: list[str]) -> Step | None:
    raw = list(words)
    rest = _unwrap(words)
    if not rest:
        return None
    program = PurePosixPath(rest[0]).name
    program = _SAME.get(program, program)
    arguments = rest[1:]
    if program == "python" and arguments and arguments[0].endswith("manage.py"):
        program, arguments = "manage.py", arguments[1:]
    if program in ("npm", "pnpm", "yarn", "bun") and arguments[:1] in (["run"], ["run-script"]):
        arguments = arguments[1:]
    if program == "npm" and arguments[:1] == ["t"]:
        arguments = ["test", *arguments[1:]]
    if program == "git" and arguments[:1] == ["commit"]:  # its message says nothing of what it does
        arguments = ["commit"]
    base, targets = _sort(program, arguments)
    return Step(program, (program, *base), targets, tuple(raw))


def _unwrap(words: list[str]) -> list[str]:
    """Take off what only starts another program: assignments, `sudo`, `timeout 60`, `uv run`, `python -m`."""
    rest = list(words)
    for _ in range(8):
        while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] in _WRAPPERS):
            rest = rest[1:]
        if not rest:
            return rest
        head = _SAME.get(PurePosixPath(rest[0]).name, PurePosixPath(rest[0]).name)
        if head == "timeout":
            rest = rest[1:]
            while rest and (rest[0].startswith("-") or re.fullmatch(r"[0-9.]+[smhd]?", rest[0])):
                rest = rest[1:]
            continue
        runner = next((names for names in _RUNNERS if (head, *rest[1 : len(names)]) == names), None)
        if runner is None:
            return rest
        inner = _without_options(rest[len(runner) :])
        if not inner:
            return rest
        rest = inner
    return rest


def _without_options(words: list[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _RUNNER_VALUES else rest[1:]
    return rest


def _sort(program: str, arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the words that say what is done, and those that say to what."""
    base: list[str] = []
    targets: list[str] = []
    skip = ""
    for word in arguments:
        if skip:
            if skip == "target":
                targets.append(word)
            skip = ""
        elif word in _SELECTORS and not (word == "-m" and program in ("git", "python")):
            skip = "target"
        elif selector := _SELECTOR.fullmatch(word):
            targets.append(selector["value"])
        elif word in _QUIET_PAIRS and program not in ("cargo", "docker", "git", "gcc", "g++", "cc", "clang", "tsc"):
            skip = "value"
        elif _QUIET.fullmatch(word):
            continue
        elif word.startswith("-"):
            base.append(word)
        elif linear(_PATH).fullmatch(word) or (
            program in ("cargo", "mix", "swift", "dotnet") and base[:1] in (["test"], ["nextest"])
        ):
            targets.append(word)
        else:
            base.append(word)
    return base, tuple(sorted(set(targets)))


def covers(success: Step, failure: Step, *, file: str = "", test: str = "") -> bool:
    """Tell whether a step that succeeded did what another failed at.

    Args:
        success, failure: the steps.
        file, test: what failed, so that a narrower run that includes it counts.
    """
    if success.base != failure.base:
        return False
    if not success.targets or set(failure.targets) <= set(success.targets):
        return True
    if any(target in (".", "./...", "...") for target in success.targets):
        return True
    if failure.targets and all(_is_within(target, success.targets) for target in failure.targets):
        return True
    return any(_is_hit(target, file, test) for target in success.targets)


def _is_within(target: str, wider: Sequence[str]) -> bool:
    path = target.removeprefix("./")
    return any(path.startswith(root.removeprefix("./").removesuffix("...").rstrip("/")) for root in wider)


def _is_hit(target: str, file: str, test: str) -> bool:
    path, _, name = target.partition("::")
    path = path.removeprefix("./").removesuffix("/...").rstrip("/")
    if name and test:
        return name.split("[")[0].split("::")[-1] in test
    if file and path and (file.endswith(path) or f"{path}/" in f"{file}/"):
        return True
    return bool(test) and len(target) > 3 and (target in test or test in target)


def is_revert(command: str) -> bool:
    """Tell whether a command takes edits back."""
    return linear(_REVERTS).search(command[:_MAX_CHARS]) is not None


def is_remedy(command: str) -> bool:
    """Tell whether a command changes what others run in: installs, generates, starts, migrates, cleans."""
    return linear(_REMEDIES).search(" ".join(command[:_MAX_CHARS].split())) is not None


def files_written(command: str) -> tuple[str, ...]:
    """Return the files that a command writes by itself, as far as its words tell: `sed -i`, `cat > file`."""
    text = command[:_MAX_CHARS]
    if not linear(_WRITES).search(text):
        return ()
    return tuple(
        dict.fromkeys(path for path in linear(_WRITE_TARGET).findall(text) if not path.startswith(("/tmp", "/dev")))
    )


def are_alike(failed: Step, success: Step) -> bool:
    """Tell whether two steps try to do the same in two ways: `pytest` and `uv run pytest`, `npm test` and `pnpm test`."""
    if failed.raw == success.raw:
        return False
    if failed.base == success.base:
        return not (failed.targets and success.targets) or bool(set(failed.targets) & set(success.targets))
    mine, theirs = set(failed.base) | set(failed.targets), set(success.base) | set(success.targets)
    common = {word for word in mine & theirs if len(word) > 1}
    return len(common) >= 1 and len(common) * 2 >= min(len(mine), len(theirs))
