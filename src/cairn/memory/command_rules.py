# ruff: noqa: E501 - a pattern is a row
"""What is known of programs in shell commands: which only look, which start others, which options change nothing.

Patterns that are text are RE2's: commands of agents can be of any length.
"""

from __future__ import annotations

import re


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
READING_SUBCOMMANDS: dict[str, frozenset[str]] = {
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
FILTERS = _words("tail head grep egrep rg sed awk tee less cat sort uniq wc cut tr column nl")
PICKERS = _words("grep egrep rg sed awk wc cut")
# Their words are paths or names of tests, whatever these look like.
TAKE_PATHS = _words(
    "pytest unittest vitest jest mocha rspec mypy pyright flake8 pylint eslint phpunit black isort rubocop playwright shellcheck"
    " prettier standardrb stylelint tap ava ctest busted bats prove hadolint yamllint markdownlint golint staticcheck gofmt"
)
TAKE_NAMES_OF_TESTS = _words("cargo mix swift dotnet")
TAKE_PATHS_AFTER_A_VERB = _words("ruff biome golangci-lint phpstan ty clang-tidy swiftlint")
WRAPPERS = _words("sudo time env nice ionice command exec nohup xvfb-run stdbuf unbuffer setsid caffeinate doas")
RUNNERS: tuple[tuple[str, ...], ...] = (
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run"), ("npx",),
    ("bunx",), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("npm", "exec"), ("bundle", "exec"), ("uvx",),
    ("mise", "exec"), ("direnv", "exec", "."), ("nix", "develop", "-c"), ("python", "-m"), ("pipx", "run"),
)  # fmt: skip
RUNNER_OPTIONS_WITH_VALUES = _words("--with --extra --group --python -p --package --project --directory --env-file")
ALIASES = {
    "python3": "python", "py": "python", "pip3": "pip", "gradlew": "gradle", "mvnw": "mvn", "py.test": "pytest",
    "nodejs": "node", "gmake": "make", "ruby3": "ruby", "dmypy": "mypy",
}  # fmt: skip
QUIET_OPTION = re.compile(
    r"-(?:v+|q+|x|s|vv?s|sv|xvs|vx|xv|qx|xq|ra|rA|rf|rs|B|U|l|j[0-9]*)|--(?:verbose|quiet|silent|no-header|tb|color|colors|no-color"
    r"|no-colour|maxfail|nocapture|lf|ff|last-failed|failed-first|ci|watch|watchAll|no-cache|reporter|offline|console|stacktrace"
    r"|info|no-daemon|runInBand|no-watch|bail|pretty|output-on-failure|exitfirst|no-cov|durations|no-summary|format|progress"
    r"|no-progress|ansi|show-error-codes|message-format|no-fail-fast|fail-fast|rerun-tasks|parallel|no-coverage|silent)(?:=.*)?"
    r"|-(?:count|timeout|race|p)=.*|-race|-ntp|-[0-9]+|--"
)
QUIET_OPTIONS_WITH_VALUES = _words("-p -n -j --tb --color --maxfail --reporter --parallel --jobs --format -o")
MEAN_OTHERWISE = _words("cargo docker git gcc g++ cc clang tsc")  # programs that mean something else by these
SELECTORS = _words(
    "-k -t -run -m --filter --tests --testNamePattern --test-name-pattern -g --grep -R --test -e --only --name "
    "--testPathPattern --testcase -R"
)
SELECTOR_WITH_VALUE = re.compile(
    r"(?:-Dtest|-run|--filter|--tests|--testNamePattern|--testPathPattern|-k|-t)=(?P<value>.+)"
)
TARGET = r"[\w@.~+\\/\[\]*:()$-]*(?:/|::|\.[a-z]{1,5}\b|\.\.\.)[\w@.~+\\/\[\]*:()$-]*|\."

REVERTS = (
    r"\bgit\s+(?:checkout\s+(?:--\s|\.|HEAD\b|\S+\.\w)|restore\b|reset\s+--hard"
    r"|stash(?:\s*$|\s*[;&|]|\s+(?:push|save|-))|revert\b|clean\s)"
)
REMEDIES = (
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
WRITES = (
    r"(?:^|[;&|\s])(?:sed\s+(?:-\w+\s+)*-i|perl\s+-\w*i|cat\s*>>?|tee\s|ed\s|patch\s|git\s+apply|git\s+am|awk\s+-i)"
    r"|>>?\s*[\w./-]+\.\w+|write_text\(|open\([^)]*['\"]w['\"]"
)
WRITE_TARGET = r"(?:>>?\s*|tee\s+(?:-a\s+)?|(?:-i\S*|-pi\S*)\s[^\n]*?\s)([\w./@+-]*[\w@+-]\.\w{1,6})(?:$|[\s;&|<])"
