"""Configuration files as people write them: a few in each format, and each of them in many dresses."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_JSON: dict[str, Any] = {
    "empty object": {},
    "one name": {"theme": "dark"},
    "servers": {"mcpServers": {"github": {"command": "npx", "args": ["-y", "server-github"], "env": {"T": "x y"}}}},
    "no servers": {"mcpServers": {}, "z": 0},
    "foreign hooks": {
        "permissions": {"allow": ["Bash(ls:*)", "Read(//etc/**)"], "deny": []},
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint // not a comment"}]}],
            "SessionStart": [],
        },
        "env": {"A": "1"},
    },
    "unicode": {"naïve": "日本語 🐍", "emoji🎉": ["é", "\u2028", "\\u0041"], "mcpServers": {"ключ": {"command": "ß"}}},
    "deep": {"a": {"b": [{"c": [[[{"d": {"e": [1, 2.5e10, -0, True, None]}}]]]}]}},
    "long line": {"prompt": "lorem ipsum " * 4_000, "list": list(range(3_000))},
    "odd names": {"a.b": 1, "": 2, " ": 3, 'quo"te': 4, "amp.mcpServers": {"x": {"command": "y"}}, "a/b\\c": 5},
    "strings like code": {"x": '{ "a": [1, 2], }', "y": "/* no */ // no", "z": ",]}"},
    "other agents": {
        "context_servers": {"x": {"command": "y", "args": []}},
        "mcp": {"x": {"type": "local", "command": ["y", "z"], "enabled": True}},
    },
}
_YAML: dict[str, str] = {
    "empty": "",
    "only a comment": "# nothing yet\n",
    "explicit start": "---\na: 1\n",
    "goose": """\
# Goose
GOOSE_PROVIDER: anthropic   # the model's home
GOOSE_MODEL: claude-sonnet
extensions:
  developer: &builtin
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  # memory: off for now
  computercontroller:
    <<: *builtin
    name: computercontroller
    env_keys: []

# end of the extensions
slash_commands:
- command: run
  recipe_path: /tmp/x.yaml
""",
    "name without a value": "extensions:\nhooks:\nz: 1\n",
    "flow": "extensions: {developer: {type: builtin, args: [a, 'b']}}\nlist: [1, 2, 3]\n",
    "flow over lines": """\
extensions: {
  developer: {type: builtin},  # first
  other: {type: stdio}
}
x: [
  a,
  b,
]
""",
    "empty flow": "extensions: {} # none\nhooks: {Stop: []}\n",
    "block texts": "prompt: |\n  line one\n\n    indented\n  # no comment\nfolded: >-\n  a\n  b\nkeep: |+\n  c\n\n",
    "keeps lines last": "extensions:\n  a:\n    text: |+\n      x\n\n\nz: 1\n",
    "deep lists": """\
a:
  - - 1
    - 2
  -
    b: c
  - d: e
    f: g
hooks:
  Stop:
    - run: x
    # - run: y
""",
    "quotes": "'a b': \"c: d\"\n? complex\n: value\n\"é\": '日本'\nyes: no\nn: 0x1F\ndate: 2024-01-02\n",
    "wide": "extensions:\n        developer:\n                args:\n                  - a\n",
    "types": "a: !custom x\nb: ~\nc: null\nd: .inf\ne: !!str 1\nf: 1_000\ng: 1e3\n",
}
_TOML: dict[str, str] = {
    "empty": "",
    "only a comment": "# nothing yet\n",
    "root names": 'model = "o3" # the model\napproval = "never"\n',
    "codex": """\
# Codex
model = "gpt-5"
notify = ["python3", "/home/u/notify.py"]

[mcp_servers.github]
command = "npx" # node
args = [
  "-y",
  "server-github", # the server
]
env = { TOKEN = "x" }
# startup_timeout_sec = 20

# ---- profiles ----
[profiles.deep]
model = "o3"

[tui]
theme = "dark"
""",
    "foreign hooks": """\
[features]
hooks = true

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = '''lint "it"'''

[[hooks.PreToolUse]]
matcher = "x"
hooks = [{ type = "command", command = "y" }]

[[hooks.Stop]]
hooks = []
""",
    "dotted": 'mcp_servers.x.command = "y"\nmcp_servers.x.args = []\ntui.theme = "dark"\n\n[a]\nb.c.d = 1\n',
    "inline": 'mcp_servers = { x = { command = "y", args = ["z"] } }\nhooks = { Stop = [] }\n',
    "dates": "born = 1979-05-27T07:32:00Z\nday = 1979-05-27\ntime = 07:32:00\nbig = 1_000\nhex = 0xFF\nf = inf\n",
    "texts": 'a = """\none\n[not.a.table]\n# no\n"""\nb = \'\'\'\nx = 1\n\'\'\'\n"quoted key" = 1\n"é.日" = "🐍"\n',
    "indented": "[a]\n  b = 1\n  [a.c]\n    d = 2 # deep\n    # e = 3\n[mcp_servers]\n\n",
    "implicit": "[a.b.c]\nd = 1\n[a]\ne = 2\n[mcp_servers.x.env]\nA = 'b'\n",
    "nested arrays": "[[x]]\n[[x.y]]\na=1\n[[x.y]]\na=2\n[[x]]\n[[x.y]]\na=3\n[x.z]\nb=4\n",
    "many blank lines": "\n\n\na = 1\n\n\n[b]\n\n\nc = 2\n\n\n",
}


class UserFile(NamedTuple):
    """A file: what it is called in reports, its format and its content."""

    name: str
    format: Any
    content: bytes


def user_files() -> list[UserFile]:
    """Return all files, the same ones each time."""
    random.seed(16)
    files = [*_json_files(), *_commented_files(), *_text_files("yaml", _YAML), *_text_files("toml", _TOML)]
    return [*files, *_odd_files()]


def _json_files() -> Iterator[UserFile]:
    for name, value in _JSON.items():
        two = json.dumps(value, indent=2, ensure_ascii=False)
        dresses = {
            "two spaces": f"{two}\n",
            "four spaces, no end": json.dumps(value, indent=4),
            "tabs": json.dumps(value, indent="\t", ensure_ascii=False) + "\n",
            "one line": json.dumps(value),
            "dense": json.dumps(value, separators=(",", ":"), ensure_ascii=False),
            "windows": two.replace("\n", "\r\n") + "\r\n",
            "mark of byte order": f"\ufeff{two}\n",
            "odd spaces": _with_odd_spaces(two),
        }
        yield from (UserFile(f"json: {name}, {dress}", "json", text.encode()) for dress, text in dresses.items())


def _commented_files() -> Iterator[UserFile]:
    for name, value in _JSON.items():
        lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
        commented = "\n".join(["// my settings", *(_with_comment(line) for line in lines), "/* the end */", ""])
        dresses = {
            "comments": commented,
            "comments, windows": commented.replace("\n", "\r\n"),
            "comments, commas after the last": re.sub(
                r'(?m)(["\]}\de])( /\* .*\*/| // .*)?$(?=\n\s*[\]}])', r"\1,\2", commented
            ),
        }
        yield from (UserFile(f"jsonc: {name}, {dress}", "jsonc", text.encode()) for dress, text in dresses.items())


def _text_files(format: str, texts: dict[str, str]) -> Iterator[UserFile]:
    for name, text in texts.items():
        dresses = {
            "as it is": text,
            "no end": text.rstrip("\n") if "|+" not in text else text,
            "windows": text.replace("\n", "\r\n"),
            "mark of byte order": f"\ufeff{text}",
            "comment at the end": f"{text}# the end\n" if not text or text.endswith("\n") else text,
        }
        yield from (UserFile(f"{format}: {name}, {dress}", format, body.encode()) for dress, body in dresses.items())


def _odd_files() -> Iterator[UserFile]:
    twice = '{"x": {"a": 1, "a": 2}, "y": [],\n "y": {}}'
    yield UserFile("json: names twice elsewhere", "json", twice.encode())
    yield UserFile("json: empty", "json", b"")
    yield UserFile("json: an empty line", "json", b"\n")
    yield UserFile("json: spaces in braces", "json", b"{ }\n")
    yield UserFile("json: lines in braces", "json", b"{\n\n}\n")
    yield UserFile("jsonc: only a comment", "jsonc", b"// nothing yet\n")
    yield UserFile("jsonc: a comment in braces", "jsonc", b"{\n  // nothing yet\n}\n")
    yield UserFile(
        "jsonc: comments around a comma", "jsonc", b'{"a": 1 /* one */ , // two\n /* three */ "b": 2 /* four */}'
    )
    yield UserFile("yaml: an explicit end", "yaml", b"a: 1\n...\n")
    yield UserFile("yaml: tabs within values", "yaml", b'a: "1\t2" # \tone\nextensions:\n  x: {}\n')


def _with_odd_spaces(text: str) -> str:
    """Return JSON with white space of any kind between its lines' parts."""
    lines = []
    for line in text.split("\n"):
        bare = line.strip()
        key, colon, rest = bare.partition('": ') if bare.startswith('"') else (bare, "", "")
        gap = random.choice([":", " :", ":  ", " : "])
        lines.append(" " * random.randrange(7) + (f'{key}"{gap}{rest}' if colon else bare) + " " * random.randrange(3))
        if not random.randrange(4):
            lines.append("")
    return "\n".join(lines)


def _with_comment(line: str) -> str:
    kind = random.randrange(5)
    if kind == 0:
        return f'{line} // {{ "not": [this] }}'
    if kind == 1:
        return f"{line} /* nor this, */"
    indent = line[: len(line) - len(line.lstrip())]
    return f'{indent}// "off": 1,\n{line}' if kind == 2 else line
