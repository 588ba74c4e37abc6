"""The commands: what each takes, and the module that runs it, imported only then."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

from cairn import __version__, fields
from cairn.cli.flags import add_field, number_within
from cairn.cli.parser import Parser, add_words, common_options, project_option
from cairn.loading import load

Command = Callable[[argparse.Namespace], int]
_NOT_NEGATIVE = fields.Rule(least=0)
_FROM_FILE = "; @FILE reads it from a file, - from stdin"


_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def build_parser(first: str = "") -> argparse.ArgumentParser:
    """Return the parser for the whole command line; docs/cli.md is checked against it.

    Args:
        first: the first word of a command line. If it decides which commands can follow, only these are added: all of
            them take 7 ms.
    """
    common = common_options()
    parser = Parser(prog="cairn", description="Codebase intelligence for AI coding agents, on your own machine.")
    parser.add_argument("--version", action="version", version=f"cairn {__version__}")
    # Without `prog`, argparse would format the usage to find it, which asks for the width of the terminal.
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser, prog=parser.prog)

    groups = [group for group in _GROUPS if first in group.commands]
    if first != "--version":
        for group in groups or _GROUPS:
            group.add(commands, common)
    return parser


def _add_search(commands: _Commands, common: Parser) -> None:
    """Add the commands that find code and print it."""
    search = commands.add_parser("search", parents=[common], help="find code by meaning, name, text or pattern")
    add_words(search, "query", rule=fields.QUERY, metavar="QUERY", also=_FROM_FILE)
    add_field(search, "--type", rule=fields.SEARCH_TYPE, default="all")
    add_field(search, "--branch", rule=fields.BRANCH, metavar="REV")
    add_field(search, "-n", "--limit", rule=fields.SEARCH_LIMIT, default=10)
    add_field(search, "--mode", rule=fields.MODE, default="auto")
    _add_filters(search)
    add_field(search, "--context", rule=fields.LINES_AROUND, default=0, metavar="N")
    add_field(search, "--max-tokens", rule=fields.TOKENS, metavar="N")
    add_field(search, "--explain", rule=fields.EXPLAIN, action="store_true")
    add_field(search, "--expand", rule=fields.EXPAND, action="store_true")
    form = search.add_mutually_exclusive_group()
    for flags, text in (
        (("-l", "--files-with-matches"), "print only the files, best first"),
        (("-c", "--count"), "print each file with the number of its hits"),
        (("--oneline",), "print one line for each hit: FILE:LINE:TEXT"),
    ):
        name = flags[-1].lstrip("-").partition("-")[0]
        form.add_argument(*flags, dest="form", action="store_const", const=name, help=text)
    search.add_argument(
        "--project", dest="among", metavar="NAME", help="ask another project: NAME or ORG/NAME; all: every one"
    )
    search.set_defaults(run=_lazy("cairn.cli.search:run_search"))

    other = project_option()
    similar = commands.add_parser("similar", parents=[common, other], help="find code that does the same, copies first")
    similar.add_argument("target", metavar="FILE:LINE", help="a line of a file; - reads the code from stdin")
    add_field(similar, "-n", "--limit", rule=fields.SIMILAR_LIMIT, default=10)
    _add_filters(similar)
    similar.set_defaults(run=_lazy("cairn.cli.search:run_similar"))

    fetch = commands.add_parser("fetch", parents=[common, other], help="print the full text of results")
    add_field(fetch, "ids", rule=fields.FETCH_IDS, nargs="+", metavar="ID", also="; - reads them from stdin")
    add_field(fetch, "--branch", rule=fields.BRANCH, metavar="REV")
    fetch.set_defaults(run=_lazy("cairn.cli.search:run_fetch"))


def _add_structure(commands: _Commands, common: Parser) -> None:
    """Add the commands about a task, a file, a function or a line."""
    other = project_option()
    context = commands.add_parser(
        "context", parents=[common, other], help="print the code that a task needs, in one answer"
    )
    add_words(context, "task", rule=fields.TASK, metavar="TASK", required=False, also=_FROM_FILE)
    add_field(context, "--id", rule=fields.CONTEXT_IDS, dest="ids", action="append", default=[], metavar="ID")
    add_field(context, "--file", rule=fields.CONTEXT_FILES, dest="files", action="append", default=[], metavar="F")
    add_field(context, "-n", "--limit", rule=fields.CONTEXT_LIMIT, default=5)
    add_field(context, "--max-tokens", rule=fields.TOKENS, shown_default=fields.DEFAULT_ANSWER_TOKENS, metavar="N")
    context.add_argument("--no-update", action="store_true", help="use the index as it is, without looking for changes")
    context.set_defaults(run=_lazy("cairn.cli.structure:run_context"))

    outline = commands.add_parser("outline", parents=[common, other], help="list what a file defines")
    outline.add_argument("file", metavar="FILE", help="a file of the project")
    add_field(outline, "--mode", rule=fields.OUTLINE_MODE, default="structure")
    add_field(outline, "--symbol", rule=fields.OUTLINE_SYMBOL, metavar="S")
    add_field(outline, "--max-tokens", rule=fields.TOKENS, shown_default=fields.DEFAULT_ANSWER_TOKENS, metavar="N")
    outline.set_defaults(run=_lazy("cairn.cli.structure:run_outline"))

    flow = commands.add_parser("flow", parents=[common], help="show how control and data flow in a function")
    flow.add_argument("target", metavar="FILE:FUNCTION", help="a function of a file; <module> for top-level code")
    part = flow.add_mutually_exclusive_group()
    part.add_argument("--cfg", action="store_true", help="only control flow: what runs after what")
    part.add_argument("--dfg", action="store_true", help="only data flow: where values are written and read")
    flow.add_argument("--mermaid", action="store_true", help="print a flowchart for Mermaid")
    flow.set_defaults(run=_lazy("cairn.cli.flow:run_flow"))

    slices = commands.add_parser("slice", parents=[common], help="show the lines that a line depends on")
    slices.add_argument("target", metavar="FILE:LINE[:VAR]", help="a line of a file, and a variable of it")
    slices.add_argument("--forward", action="store_true", help="the lines that depend on it instead")
    slices.set_defaults(run=_lazy("cairn.cli.flow:run_slice"))


def _add_upkeep(commands: _Commands, common: Parser) -> None:
    """Add the commands that build, show and repair the index."""
    index = commands.add_parser("index", parents=[common], help="build or update the index")
    index.add_argument("path", nargs="?", metavar="PATH", help="the project, like -C")
    index.add_argument("--branch", metavar="REV", help="index this branch, tag or commit without checking it out")
    index.add_argument("--full", action="store_true", help="build from scratch instead of updating")
    index.add_argument(
        "--dry-run", action="store_true", help="show what would be done and what it would cost; write nothing"
    )
    index.add_argument("--watch", action="store_true", help="keep running and follow every edit until Ctrl-C")
    index.add_argument("--skipped", action="store_true", help="list every file that was skipped, with its reason")
    index.add_argument(
        "--ask", action="store_true", help="ask again whether the model that the project's settings name may be used"
    )
    index.set_defaults(run=_lazy("cairn.cli.index:run_index"))

    status = commands.add_parser("status", parents=[common], help="show what is indexed")
    status.set_defaults(run=_lazy("cairn.cli.index:run_status"))

    gc_command = commands.add_parser("gc", parents=[common], help="drop what no branch or worktree contains any more")
    gc_command.add_argument("--dry-run", action="store_true", help="show what would be dropped; write nothing")
    gc_command.set_defaults(run=_lazy("cairn.cli.health:run_gc"))

    doctor = commands.add_parser("doctor", parents=[common], help="examine the index and everything it depends on")
    doctor.add_argument("--fix", action="store_true", help="repair what can be repaired, without asking")
    doctor.add_argument("--rebuild-memory", action="store_true", help="rebuild what recall searches from the memories")
    doctor.add_argument("--adopt-memory", action="store_true", help="take over memories that were made elsewhere")
    doctor.add_argument("--salvage-memory", action="store_true", help="save what can be read of a damaged memory")
    doctor.add_argument("--yes", action="store_true", help="take them over, or save them, without asking")
    doctor.set_defaults(run=_lazy("cairn.cli.health:run_doctor"))


def _adding(place: str) -> Callable[[_Commands, Parser], None]:
    """Return what adds the commands of another module."""

    def add(commands: _Commands, common: Parser) -> None:
        load(place)(commands, common, common_options(argparse.SUPPRESS), _lazy)

    return add


def _add_install(commands: _Commands, common: Parser) -> None:
    """Add the commands that tell agents of Cairn, and take it back."""
    shared = Parser(add_help=False, parents=[common])
    shared.add_argument(
        "--agent", dest="agents", action="append", default=[], metavar="NAME", help="only this agent; repeatable"
    )
    shared.add_argument("--user", action="store_true", help="in your own files, for every project")
    shared.add_argument("--dry-run", action="store_true", help="show the changes as a diff; write nothing")
    for name in ("init", "install"):
        init = commands.add_parser(
            name,
            parents=[shared],
            help="set up the coding agents in use here, and index",
            description="Set up the coding agents in use here: show what will be written to which of their files, ask, "
            "write it, index the project, and try what was set up. `cairn uninstall` takes it back, byte for byte.",
        )
        init.add_argument("--yes", action="store_true", help="write without asking")
        init.set_defaults(run=_lazy("cairn.cli.install:run_init"))
    uninstall = commands.add_parser("uninstall", parents=[shared], help="take Cairn out of agents' files again")
    uninstall.add_argument("--yes", action="store_true", help="changes nothing: it never asks")
    uninstall.set_defaults(run=_lazy("cairn.cli.install:run_uninstall"))


def _add_about(commands: _Commands, common: Parser) -> None:
    """Add the commands about Cairn itself."""
    add = load("cairn.cli.about_parser:add_about_commands")
    add(commands, common, common_options(argparse.SUPPRESS), _lazy)
    commands.choices["completions"].set_defaults(build_parser=build_parser)


def _add_mcp(commands: _Commands, common: Parser) -> None:
    """Add the server for agents."""
    mcp = commands.add_parser("mcp", parents=[common], help="answer an agent over stdin and stdout (MCP)")
    mcp.set_defaults(run=_lazy("cairn.cli.mcp:run_mcp"))


def _add_hook(commands: _Commands, _common: Parser) -> None:
    """Add the program that agents run at their events; `cairn.__main__` runs it without all of this."""
    hook = commands.add_parser("hook", help="report an event of an agent; agents run this, not people")
    hook.add_argument("event", metavar="EVENT", help="what happened, such as after-tool; see docs/cli.md")
    hook.add_argument("payload", nargs="?", metavar="PAYLOAD", help="what the agent says of it (default: stdin)")
    hook.add_argument("--agent", required=True, metavar="NAME", help="which agent, such as claude-code")
    hook.set_defaults(run=_lazy("cairn.cli.hook:run_hook"))


def _add_exchange(commands: _Commands, common: Parser) -> None:
    """Add the commands that write memories to a file and read them from one."""
    export = commands.add_parser("export", parents=[common], help="write memories with their history as JSON Lines")
    export.add_argument("into", nargs="?", default="-", metavar="FILE", help="the file (default: -, stdout)")
    add_field(export, "--shared", rule=fields.EXPORT_SHARED, action="store_true")
    load("cairn.cli.memory_parser:add_memory_filter")(export)
    add_field(export, "--id", rule=fields.MEMORY_ID, dest="ids", action="append", default=[], metavar="ID")
    export.set_defaults(run=_lazy("cairn.cli.exchange:run_export"))
    imports = commands.add_parser("import", parents=[common], help="read memories that were exported")
    imports.add_argument("file", metavar="FILE", help="what export wrote; - reads stdin")
    imports.add_argument("--dry-run", action="store_true", help="show what would be new; write nothing")
    imports.set_defaults(run=_lazy("cairn.cli.exchange:run_import"))


def _add_daemon(commands: _Commands, common: Parser) -> None:
    """Add the commands about the background process."""
    daemon = commands.add_parser("daemon", parents=[common], help="start, stop or inspect the background process")
    actions = daemon.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    below = common_options(argparse.SUPPRESS)
    for name, text in (
        ("start", "start it unless it is running"),
        ("stop", "stop it and wait until it has stopped"),
        ("status", "show what it is doing"),
        ("ensure", "start it unless it is running; return as soon as it answers"),
        ("logs", "print the end of its log"),
    ):
        action = actions.add_parser(name, parents=[below], help=text)
        action.set_defaults(run=_start_daemon if name == "start" else _lazy(f"cairn.cli.daemon:run_{name}"))
        if name == "start":
            action.add_argument("--foreground", action="store_true", help="run as the daemon until Ctrl-C")
            action.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)  # for `ensure` alone
        if name == "logs":
            action.add_argument(
                "-n", "--lines", type=number_within(_NOT_NEGATIVE), default=50, help="lines at most; 0: all"
            )


def _add_ui(commands: _Commands, common: Parser) -> None:
    """Add the command that opens the pages."""
    ui = commands.add_parser("ui", parents=[common], help="open the pages of the daemon in your browser")
    ui.add_argument("--print", action="store_true", help="print the link only")
    ui.add_argument("--sign-out", action="store_true", help="sign all browsers out instead")
    ui.set_defaults(run=_lazy("cairn.cli.ui:run_ui"))


def _add_graph(commands: _Commands, common: Parser) -> None:
    """Add the commands that ask the symbol graph."""
    asking = Parser(add_help=False, parents=[common])
    asking.add_argument("--no-update", action="store_true", help="use the index as it is, without looking for changes")
    limited, other = Parser(add_help=False), project_option()
    add_field(limited, "-n", "--limit", rule=fields.GRAPH_LIMIT, default=0)

    for name, text in (
        ("callers", "show what calls a symbol"),
        ("callees", "show what a symbol calls"),
        ("subclasses", "show what derives from a type or implements it"),
    ):
        command = commands.add_parser(name, parents=[asking, limited, other], help=text)
        add_field(command, "symbol", rule=fields.SYMBOL, metavar="SYMBOL")
        command.set_defaults(run=_lazy(f"cairn.cli.graph:run_{name}"))
    references = commands.add_parser(
        "references", parents=[asking, limited, other], help="show all that refers to a symbol"
    )
    add_field(references, "symbol", rule=fields.SYMBOL, metavar="SYMBOL")
    add_field(references, "--kind", rule=fields.REFERENCE_KINDS, dest="kinds", action="append", default=[], metavar="K")
    references.set_defaults(run=_lazy("cairn.cli.graph:run_references"))
    path = commands.add_parser(
        "path", parents=[asking, other], help="show the shortest chain of calls between two symbols"
    )
    add_field(path, "source", rule=fields.PATH_FROM, metavar="FROM")
    add_field(path, "target", rule=fields.PATH_TO, metavar="TO")
    path.set_defaults(run=_lazy("cairn.cli.graph:run_path"))
    importers = commands.add_parser("importers", parents=[asking, other], help="show which files import a file")
    add_field(importers, "target", rule=fields.IMPORTED, metavar="FILE")
    importers.set_defaults(run=_lazy("cairn.cli.graph:run_importers"))
    for name, text in (
        ("impact", "show what a change may break"),
        ("tests", "show which tests to run for a change"),
    ):
        command = commands.add_parser(name, parents=[asking, limited, other], help=text)
        add_field(command, "symbol", rule=fields.CHANGED, nargs="?", metavar="SYMBOL")
        add_field(command, "--diff", rule=fields.DIFF, nargs="?", const="HEAD", shown_default="HEAD", metavar="REV")
        command.set_defaults(run=_lazy(f"cairn.cli.graph:run_{name}"))
    dead = commands.add_parser("dead", parents=[asking, limited], help="show code that nothing seems to use")
    dead.set_defaults(run=_lazy("cairn.cli.whole:run_dead"))
    cycles = commands.add_parser("cycles", parents=[asking], help="show import cycles")
    cycles.set_defaults(run=_lazy("cairn.cli.whole:run_cycles"))
    overview = commands.add_parser("map", parents=[asking], help="show the most central files and definitions")
    add_field(overview, "--max-tokens", rule=fields.TOKENS, default=1000, metavar="N")
    overview.add_argument("--focus", action="append", default=[], metavar="FILE", help="as seen from this file")
    overview.set_defaults(run=_lazy("cairn.cli.whole:run_map"))


def _add_history(commands: _Commands, common: Parser) -> None:
    """Add the commands that ask the history."""
    load("cairn.cli.history_parser:add_history_commands")(commands, common, _lazy)


def _add_filters(command: argparse.ArgumentParser) -> None:
    """Add the filters of a search."""
    add_field(command, "--kind", rule=fields.KINDS, action="append", default=[], metavar="K")
    add_field(command, "--lang", rule=fields.LANGUAGES, action="append", default=[], metavar="L")
    add_field(command, "--in", rule=fields.GLOBS, dest="globs", action="append", default=[], metavar="GLOB")
    command.add_argument("--no-update", action="store_true", help="use the index as it is, without looking for changes")


class _Group(NamedTuple):
    """Commands that are added together."""

    commands: Collection[str]
    add: Callable[[_Commands, Parser], None]


_GRAPH_COMMANDS = "callers callees references subclasses path importers impact tests dead cycles map"
_MEMORY_COMMANDS = "remember recall memories resolve forget fresh savings feedback sessions"
# In the order in which the help lists them.
_GROUPS = (
    _Group(("search", "similar", "fetch"), _add_search),
    _Group(("context", "outline", "flow", "slice"), _add_structure),
    _Group(_GRAPH_COMMANDS.split(), _add_graph),
    _Group(("history", "related", "why"), _add_history),
    _Group(("index", "status", "gc", "doctor"), _add_upkeep),
    _Group(("init", "install", "uninstall"), _add_install),
    _Group(("core",), _adding("cairn.cli.core_parser:add_core_commands")),
    _Group(_MEMORY_COMMANDS.split(), _adding("cairn.cli.memory_parser:add_memory_commands")),
    _Group(("optimize", "eval"), _adding("cairn.cli.optimize_parser:add_optimize_commands")),
    _Group(("login", "logout"), _adding("cairn.cli.login_parser:add_login_commands")),
    _Group(("team",), _adding("cairn.cli.team_parser:add_team_commands")),
    _Group(("export", "import"), _add_exchange),
    _Group(("mcp",), _add_mcp),
    _Group(("hook",), _add_hook),
    _Group(("daemon",), _add_daemon),
    _Group(("ui",), _add_ui),
    _Group(("config", "completions", "help"), _add_about),
)


def _lazy(place: str) -> Command:
    """Return a command whose module is imported only when it runs: start-up time."""

    def run(options: argparse.Namespace) -> int:
        code: int = load(place)(options)
        return code

    return run


def _start_daemon(options: argparse.Namespace) -> int:
    """Start the daemon, or run as it, which imports everything that serves."""
    is_daemon = options.foreground or options.detached
    command = _lazy("cairn.cli.daemon_process:run_here" if is_daemon else "cairn.cli.daemon:run_start")
    return command(options)
