"""A name without a definition of its own, such as a key or a member, leads first to the line that declares it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "a/use.rs": "fn check(user: &User) -> Result<()> {\n    Err(ShopError::NotAnOwner.into())\n}\n\n"
    "fn port(settings: &Settings) -> u16 {\n    settings.tls_enabled as u16\n}\n",
    "b/error.rs": "pub enum ShopError {\n    NoCart(String),\n    NotAnOwner,\n}\n",
    "b/settings.rs": "pub struct Settings {\n    /// Whether it is safe.\n    pub tls_enabled: bool,\n}\n",
    "a/pipeline.rb": 'def start(settings)\n  size = settings.get("queue.batch.size")\n  run(size)\nend\n',
    "b/environment.rb": 'SETTINGS = [\n  Setting::Positive.new("queue.batch.size", 125),\n]\n',
    "a/check.js": "function check({\n  allowEmpty,\n}) {\n  return allowEmpty\n}\n",
    "b/options.js": "module.exports = {\n  allowEmpty: {\n    help: 'Empty carts are fine',\n  },\n}\n",
    "src/Factory.java": "class Factory {\n  void make() {\n"
    '    log.error("unable to create dead cart writer", error);\n  }\n}\n',
    "src/DeadCartWriter.java": "class DeadCartWriter {\n  void write() {\n  }\n}\n",
    "cli.c": "static const struct option all[] = {\n  {\"no-unicode\", no_argument, 0, 'U'},\n"
    '  {"max-rounds", required_argument, 0, 0},\n'
    '};\n\nvoid help(void) {\n  printf("-r --max-rounds=NUMBER   Stop after some rounds\\n");\n'
    '  fprintf(stderr, "Error: invalid round value \\"%s\\".\\n", value);\n}\n',
    "main.go": 'package main\n\nfunc main() {\n\tflag.BoolVar(&flush, "flush-carts", false, "Flush them")\n}\n',
    "deep/down/in/carts.py": "def one():\n    pass\n",
    "carts/carts.py": "def two():\n    pass\n",
    "src/leb.rs": "pub fn encode(n: u64) -> Vec<u8> {\n    vec![n as u8]\n}\n",
    "src/stream.rs": "// Each time is a leb, as each leb of the head is; a leb is short.\n"
    "fn leb_of_time() {}\nfn leb_of_head() {}\n",
    "docs/commands.md": "# Commands\n\n## recount\n\nCounts what is there again.\n",
    "shop/commands/recount.py": "class Command:\n    def handle(self):\n        pass\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("names")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("NotAnOwner", "b/error.rs", 3),
        ("tls_enabled", "b/settings.rs", 3),
        ("queue.batch.size", "b/environment.rb", 2),
        ("allowEmpty", "b/options.js", 2),
        ("--max-rounds", "cli.c", 3),
        ("the no-unicode option", "cli.c", 2),
        ("-flush-carts", "main.go", 4),
        ("invalid round value", "cli.c", 8),
    ],
)
def test_the_line_that_declares_a_name_comes_first(workspace: Workspace, text: str, path: str, line: int) -> None:
    first = workspace.search(text).code[0]
    assert (first.path, first.start_line) == (path, line)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("dead cart writer", "src/DeadCartWriter.java"),
        ("carts.py", "carts/carts.py"),
        ("recount", "shop/commands/recount.py"),
        ("leb", "src/leb.rs"),
    ],
    ids=[
        "a type before messages with its words",
        "a file higher up",
        "a command before what documents it",
        "the only file of code that is called so",
    ],
)
def test_what_is_called_so_comes_before_what_only_says_it(workspace: Workspace, text: str, path: str) -> None:
    assert workspace.search(text).code[0].path == path
