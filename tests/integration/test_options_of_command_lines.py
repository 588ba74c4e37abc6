"""Options of command lines in questions: the line that declares one comes first, whatever library reads it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "click/cli.py": (
        "import click\n\n\n@click.command()\n@click.option(\n    '--line-length',\n"
        "    help='How many characters.',\n)\n"
        "def main(line_length):\n    if line_length < 0:\n"
        "        raise ValueError('--line-length must not be negative')\n"
    ),
    "argparse/arguments.py": (
        "parser = ArgumentParser()\nparser.add_argument('-q', '--quiet-mode', required=True)\n"
        "parser.add_argument('--shell', choices=('sh', 'zsh'))\n"
    ),
    "clap/src/cli.rs": (
        "#[derive(Parser)]\npub struct Opts {\n    /// As many as this.\n    #[arg(\n        long,\n"
        '        value_name = "count",\n'
        '        conflicts_with("batch_size"),\n    )]\n    pub max_results: Option<usize>,\n\n'
        "    #[arg(long, short)]\n"
        "    pub(crate) batch_size: usize,\n}\n"
    ),
    "clap/src/walk.rs": "fn walk(config: &Config) {\n    if let Some(max_results) = config.max_results {\n    }\n}\n",
    "builder/app.rs": (
        'fn app() -> Command {\n    Command::new("app").arg(\n        Arg::new("pager")\n'
        '            .long("pager-mode")\n    )\n}\n'
    ),
    "cobra/list.go": (
        "package list\n\nfunc command() {\n"
        '\tcmd.Flags().StringVarP(&opts.Milestone, "milestone", "m", "", "By milestone")\n'
        '\tif cmd.Flags().Changed("milestone") {\n\t}\n}\n'
    ),
    "kingpin/main.go": 'func main() {\n\ta.Flag("storage.keep.time", "How long.").Default("15d").String()\n}\n',
    "optparse/options.rb": "def add(opts)\n  option(opts, '--exclude-limit COUNT')\nend\n",
    "symfony/UpdateCommand.php": (
        "<?php\nclass UpdateCommand {\n  function configure() {\n"
        "    $this->addOption('with-dependencies', null, 0);\n  }\n"
        "  function execute($input) {\n    if ($input->getOption('with-dependencies')) { }\n  }\n}\n"
    ),
    "picocli/Main.java": (
        "class Main {\n"
        '  @Option(names = {"-o", "--output-file"}, description = "Where to.")\n  private File outputFile;\n}\n'
    ),
    "optionator/options.js": (
        'module.exports = optionator({\n  options: [\n    {\n      option: "max-warnings",\n    },\n  ],\n})\n'
    ),
    "swift/Run.swift": 'struct Run: ParsableCommand {\n  @Flag(help: "Say more.")\n  var verboseMode = false\n}\n',
    "completion/_app": "#compdef app\n_arguments '--max-results[as many]' '--line-length[characters]'\n",
    "tests/test_cli.py": "def test_it():\n    run(['--line-length', '80'])\n    run(['--quiet-mode'])\n",
    "README.md": "# App\n\nUse `--max-results`, `--line-length` and `--pager-mode`.\n",
}
DECLARED = {
    "line-length": ("click/cli.py", 6),
    "quiet-mode": ("argparse/arguments.py", 2),
    "max-results": ("clap/src/cli.rs", 9),
    "batch-size": ("clap/src/cli.rs", 12),
    "pager-mode": ("builder/app.rs", 4),
    "milestone": ("cobra/list.go", 4),
    "storage.keep.time": ("kingpin/main.go", 2),
    "exclude-limit": ("optparse/options.rb", 2),
    "with-dependencies": ("symfony/UpdateCommand.php", 4),
    "output-file": ("picocli/Main.java", 2),
    "max-warnings": ("optionator/options.js", 4),
    "verbose-mode": ("swift/Run.swift", 3),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("options")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    "form", ["--{}", "where is the --{} option handled", "add an option like --{}", "what does --{} do?"]
)
@pytest.mark.parametrize("name", DECLARED)
def test_the_line_that_declares_an_option_comes_first(app: Workspace, name: str, form: str) -> None:
    answer = app.search(form.format(name))
    first = answer.code[0]
    path, line = DECLARED[name]
    assert first.path == path
    assert first.start_line <= line <= first.end_line
    assert first.confidence == "high"
    assert f"Lines that declare --{name} come first." in [str(note) for note in answer.notes]


def test_a_statement_about_an_option_shows_its_declaration_among_the_first(app: Workspace) -> None:
    hits = app.search("--max-results is ignored while the tree is walked").code[:3]
    assert "clap/src/cli.rs" in {hit.path for hit in hits}


def test_a_message_that_names_an_option_comes_before_its_declaration(app: Workspace) -> None:
    first, second, *_ = app.search("ValueError: --line-length must not be negative").code
    assert (first.path, first.start_line) == ("click/cli.py", 11)
    assert (second.path, second.start_line) == ("click/cli.py", 6)


def test_an_option_that_nothing_declares_is_looked_for_as_text(app: Workspace) -> None:
    assert app.search("--max-depth").code[:1] == ()
    found = app.search("--shell=zsh").code[0]
    assert (found.path, found.start_line) == ("argparse/arguments.py", 3)


def test_filters_hold_for_options(app: Workspace) -> None:
    found = app.search("--max-results", globs=["README.md"]).code
    assert {hit.path for hit in found} == {"README.md"}
