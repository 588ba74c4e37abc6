"""The commands about memories, as the command line takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cairn import fields
from cairn.cli.flags import add_field
from cairn.cli.parser import add_words

Command = Callable[[argparse.Namespace], int]
_Commands = argparse._SubParsersAction  # of any class of parsers


def add_memory_commands(
    commands: _Commands[Any],
    common: argparse.ArgumentParser,
    action_common: argparse.ArgumentParser,
    command: Callable[[str], Command],
) -> None:
    """Add the commands.

    Args:
        commands: of the program.
        common: the options of every command.
        action_common: the same for actions below a command that has options of its own: without defaults.
        command: returns the command at a place, `module:function`, imported when it runs.
    """
    remember = commands.add_parser("remember", parents=[common], help="keep something for later sessions")
    add_words(remember, "text", rule=fields.MEMORY_TEXT, metavar="TEXT")
    add_field(remember, "--type", rule=fields.MEMORY_TYPE, default="discovery")
    add_field(remember, "--file", rule=fields.MEMORY_FILES, dest="files", action="append", default=[], metavar="F")
    add_field(remember, "--importance", rule=fields.IMPORTANCE, default=5, metavar="N")
    add_field(remember, "--tag", rule=fields.TAGS, dest="tags", action="append", default=[], metavar="T")
    add_field(remember, "--shared", rule=fields.SHARED, action="store_true")
    add_field(remember, "--session", rule=fields.MEMORY_SESSION, default="", metavar="S")
    remember.set_defaults(run=command("cairn.cli.memories:run_remember"))

    recall = commands.add_parser("recall", parents=[common], help="find what earlier sessions learned about something")
    add_words(recall, "query", rule=fields.RECALL_QUERY, metavar="QUERY")
    add_field(recall, "-n", "--limit", rule=fields.RECALL_LIMIT, default=5)
    add_field(recall, "--type", rule=fields.MEMORY_TYPES, dest="types", action="append", default=[])
    add_field(recall, "--include-resolved", rule=fields.INCLUDE_RESOLVED, action="store_true")
    add_field(recall, "--all-branches", rule=fields.ALL_BRANCHES, action="store_true")
    add_field(recall, "--max-tokens", rule=fields.TOKENS, metavar="N")
    recall.set_defaults(run=command("cairn.cli.memories:run_recall"))

    _add_memories(commands, common, action_common, command)

    resolve = commands.add_parser("resolve", parents=[common], help="say that memories are settled")
    add_field(resolve, "ids", rule=fields.RESOLVED_IDS, nargs="*", metavar="ID")
    add_field(resolve, "--session", rule=fields.RESOLVED_SESSION, default="", metavar="S")
    add_field(resolve, "--reason", rule=fields.REASON, default="", metavar="R")
    resolve.set_defaults(run=command("cairn.cli.memories:run_resolve"))

    forget = commands.add_parser("forget", parents=[common], help="erase memories for ever")
    add_field(forget, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.set_defaults(run=command("cairn.cli.memories:run_forget"))

    fresh = commands.add_parser("fresh", parents=[common], help="start a session that is shown nothing of earlier ones")
    add_field(fresh, "--session", rule=fields.FRESH_SESSION, default="", metavar="S")
    fresh.add_argument("--undo", action="store_true", help="show it what earlier ones learned after all")
    fresh.set_defaults(run=command("cairn.cli.fresh:run_fresh"))
    savings = commands.add_parser("savings", parents=[common], help="show what answers to tool calls saved, in tokens")
    add_field(savings, "--days", rule=fields.SAVINGS_DAYS, default=30, metavar="N")
    savings.set_defaults(run=command("cairn.cli.savings:run_savings"))
    sessions = commands.add_parser(
        "sessions", parents=[common], help="list the sessions of agents; show, mute and forget them"
    )
    add_field(sessions, "--agent", rule=fields.OF_AGENT, default="", metavar="NAME")
    add_field(sessions, "--branch", rule=fields.OF_BRANCH, default="", metavar="B")
    add_field(sessions, "--file", rule=fields.SESSION_FILE, default="", metavar="F")
    add_field(sessions, "--since", rule=fields.HEARD_SINCE, default="", metavar="DATE")
    add_field(sessions, "-n", "--limit", rule=fields.SESSION_LIMIT, default=20)
    add_field(sessions, "--offset", rule=fields.OFFSET, default=0, metavar="N")
    add_field(sessions, "--max-tokens", rule=fields.TOKENS, metavar="N")
    sessions.set_defaults(run=command("cairn.cli.sessions:run_sessions"))
    actions = sessions.add_subparsers(title="actions", metavar="[ACTION]", parser_class=type(sessions))
    show = actions.add_parser("show", parents=[action_common], help="print what was asked, done and learned")
    add_field(show, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    show.set_defaults(run=command("cairn.cli.sessions:run_show"))
    mute = actions.add_parser("mute", parents=[action_common], help="keep nothing of them from now on")
    add_field(mute, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    mute.add_argument("--undo", action="store_true", help="keep what happens in them again")
    mute.add_argument("--yes", action="store_true", help="do not ask before what was kept is deleted")
    mute.set_defaults(run=command("cairn.cli.sessions:run_mute"))
    forget_session = actions.add_parser("forget", parents=[action_common], help="delete what was done in them")
    add_field(forget_session, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    forget_session.add_argument("--yes", action="store_true", help="do not ask")
    forget_session.set_defaults(run=command("cairn.cli.sessions:run_forget"))


def _add_memories(
    commands: _Commands[Any],
    common: argparse.ArgumentParser,
    action_common: argparse.ArgumentParser,
    command: Callable[[str], Command],
) -> None:
    memories = commands.add_parser("memories", parents=[common], help="list memories; show and change them")
    add_field(memories, "--type", rule=fields.MEMORY_TYPES, dest="types", action="append", default=[])
    add_field(memories, "--status", rule=fields.MEMORY_STATUSES, dest="statuses", action="append", default=[])
    add_field(memories, "--file", rule=fields.OF_FILE, default="", metavar="F")
    add_field(memories, "--session", rule=fields.OF_SESSION, default="", metavar="S")
    add_field(memories, "--tag", rule=fields.OF_TAG, default="", metavar="T")
    add_field(memories, "--branch", rule=fields.OF_BRANCH, default="", metavar="B")
    add_field(memories, "--text", rule=fields.OF_TEXT, default="", metavar="TEXT")
    add_field(memories, "--since", rule=fields.SINCE, default="", metavar="DATE")
    add_field(memories, "--until", rule=fields.UNTIL, default="", metavar="DATE")
    add_field(memories, "-n", "--limit", rule=fields.MEMORY_LIMIT, default=20)
    add_field(memories, "--offset", rule=fields.OFFSET, default=0, metavar="N")
    add_field(memories, "--max-tokens", rule=fields.TOKENS, metavar="N")
    memories.set_defaults(run=command("cairn.cli.memories:run_memories"))
    actions = memories.add_subparsers(title="actions", metavar="[ACTION]", parser_class=type(memories))

    show = actions.add_parser("show", parents=[action_common], help="print memories with their history")
    add_field(show, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
    show.set_defaults(run=command("cairn.cli.memories:run_show"))

    edit = actions.add_parser("edit", parents=[action_common], help="change what a memory says or is tied to")
    add_field(edit, "id", rule=fields.MEMORY_ID, metavar="ID")
    add_field(edit, "--text", rule=fields.NEW_TEXT, dest="new_text", metavar="TEXT")
    add_field(edit, "--type", rule=fields.MEMORY_TYPE, dest="new_type")
    add_field(edit, "--importance", rule=fields.IMPORTANCE, metavar="N")
    shared = edit.add_mutually_exclusive_group()
    shared.add_argument("--shared", action="store_true", default=None, help=fields.SHARED.text)
    shared.add_argument("--not-shared", dest="shared", action="store_false", help="keep it on this machine from now on")
    for flag, rule in (
        ("--tag", fields.ADDED_TAGS),
        ("--remove-tag", fields.REMOVED_TAGS),
        ("--file", fields.ADDED_FILES),
        ("--remove-file", fields.REMOVED_FILES),
    ):
        name = f"edit_{flag.removeprefix('--').replace('-', '_')}s"
        add_field(edit, flag, rule=rule, dest=name, action="append", default=[], metavar=flag[-4].upper())
    edit.set_defaults(run=command("cairn.cli.memories:run_edit"))

    for name, text in (
        ("archive", "put memories out of sight"),
        ("reopen", "make memories active again"),
        ("undo", "undo the last change of a status"),
    ):
        action = actions.add_parser(name, parents=[action_common], help=text)
        add_field(action, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
        if name != "undo":
            add_field(action, "--reason", rule=fields.REASON, default="", metavar="R")
        action.set_defaults(run=command(f"cairn.cli.memories:run_{name}"))

    supersede = actions.add_parser("supersede", parents=[action_common], help="say which memory replaces one")
    add_field(supersede, "id", rule=fields.MEMORY_ID, metavar="ID")
    add_field(supersede, "successor", rule=fields.SUCCESSOR, metavar="BY")
    add_field(supersede, "--reason", rule=fields.REASON, default="", metavar="R")
    supersede.set_defaults(run=command("cairn.cli.memories:run_supersede"))

    prune = actions.add_parser("prune", parents=[action_common], help="archive what nobody has recalled for long")
    prune.add_argument("--dry-run", action="store_true", help="list what would be archived; write nothing")
    prune.set_defaults(run=command("cairn.cli.memories:run_prune"))
