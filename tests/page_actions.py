"""Every action of every page: where it is, what is done, and what comes of it."""

from __future__ import annotations

from typing import NamedTuple


class PageAction(NamedTuple):
    """One action.

    Attributes:
        control: its template and what it is called there, as `test_page_actions` finds it in the templates.
        path: of the page; `TAG` stands for the tag of the memory that was made for it, `ID` for the memory's id.
        press: what is pressed, as a selector.
        outcome: what the page says then, as a pattern; `url:` and a pattern of its address, `file:` and the name of a
            download, `link:` and how the address of a link begins that another program opens.
        fill: fields before that, each with its selector and value; `on` ticks a box.
        needs: what has to be there, see `Shop`.
        scripts: whether it is there only with scripts (True) or only without (False).
    """

    control: str
    path: str
    press: str
    outcome: str
    fill: tuple[tuple[str, str], ...] = ()
    needs: str = "memory"
    scripts: bool | None = None

    @property
    def stays(self) -> bool:
        """Whether the page stays, as another one or the same is loaded by all else."""
        return self.control.endswith((": copy", ": summary"))


def _value(name: str, form: str = "main") -> str:
    return f'{form} [name="action"][value="{name}"]'


_MARK = ('#list [name="id"]', "on")
_ALL = ('[name="all"]', "on")
_SHOWN = '[aria-label^="What the agent was shown"]'
_LIST, _ONE = "/memories?tag=TAG", "/memories/ID"

ACTIONS = (
    # every page
    PageAction("head.html: q", "/", '.find [name="q"]', "url:/search.*q=tax", (('.find [name="q"]', "tax"),)),
    PageAction("head.html: project", "/sessions", "#project", "url:project=other", (("#project", "other"),), "", True),
    PageAction(
        "head.html: Switch", "/sessions", ".project button", "url:project=other", (("#project", "other"),), "", False
    ),
    *(
        PageAction(f"head.html: {name}", "/log", f'.top nav a[href^="{path}"]', f"url:{path}$", (), "")
        for path, name in (("/memories", "Memories"), ("/system", "System"))
    ),
    # the week
    PageAction("week.html: archive", "/", _value("archive"), "1 memory is archived", (), "doubtful"),
    PageAction("week.html: resolve", "/", _value("resolve"), "1 memory is resolved", (), "doubtful"),
    PageAction("week.html: delete", "/", _value("delete"), "for ever", (), "doubtful"),
    PageAction("week.html: keep", "/", _value("keep"), "1 memory is kept", (), "doubtful"),
    # memories
    PageAction(
        "memories.html: Filter", "/memories", '[aria-label="Filter"] button', "1 memory", (('[name="tag"]', "TAG"),)
    ),
    PageAction("memories.html: archive", _LIST, _value("archive"), "1 memory is archived", (_MARK,)),
    PageAction("memories.html: resolve", _LIST, _value("resolve"), "1 memory is resolved", (_MARK,)),
    PageAction("memories.html: reopen", _LIST, _value("reopen"), "1 memory is reopened", (_MARK,)),
    PageAction("memories.html: export", _LIST, _value("export"), "file:memories.jsonl", (_MARK,)),
    PageAction("memories.html: delete", _LIST, _value("delete"), "Delete 1 memory for ever", (_MARK,)),
    PageAction("memories.html: all", _LIST, _value("resolve"), "Resolve 1 memory.*Nothing is changed yet", (_ALL,)),
    PageAction("undo.html: undo", _LIST, _value("undo"), "1 memory is as before", (_MARK,), "undo archive"),
    PageAction("memories.html: next", "/memories?tag=many", '[rel="next"]', "url:offset=25", (), "many"),
    PageAction("memories.html: prev", "/memories?tag=many&offset=25", '[rel="prev"]', "1 to 25", (), "many"),
    PageAction("confirm.html: export", _LIST, _value("export"), "file:memories.jsonl", (_MARK,), "confirm delete"),
    PageAction("confirm.html: action", _LIST, f"{_value('delete')}", "1 memory is deleted", (_MARK,), "confirm delete"),
    PageAction(
        "doubtful.html: archive",
        "/doubtful",
        _value("archive"),
        "1 memory is archived|archived",
        (('[name="id"]', "on"),),
        "doubtful",
    ),
    PageAction(
        "doubtful.html: resolve", "/doubtful", _value("resolve"), "resolved", (('[name="id"]', "on"),), "doubtful"
    ),
    PageAction(
        "doubtful.html: delete", "/doubtful", _value("delete"), "for ever", (('[name="id"]', "on"),), "doubtful"
    ),
    PageAction("doubtful.html: keep", "/doubtful", _value("keep"), "kept", (('[name="id"]', "on"),), "doubtful"),
    PageAction("doubtful.html: next", "/doubtful", '[rel="next"]', "url:offset=25", (), "doubtful"),
    PageAction("doubtful.html: prev", "/doubtful?offset=25", '[rel="prev"]', "url:/doubtful$", (), "doubtful"),
    # one memory
    PageAction(
        "memory.html: Save", _ONE, ".first", "It is changed", (("#text", "Said again"), ('[name="tags"]', "new"))
    ),
    PageAction("memory.html: archive", _ONE, _value("archive"), "1 memory is archived"),
    PageAction("memory.html: resolve", _ONE, _value("resolve"), "1 memory is resolved"),
    PageAction("memory.html: reopen", _ONE, _value("reopen"), "1 memory is reopened", (), "archived"),
    PageAction("memory.html: undo", _ONE, _value("undo"), "1 memory is as before", (), "archived"),
    PageAction("memory.html: export", _ONE, _value("export"), "file:memories.jsonl"),
    PageAction("memory.html: delete", _ONE, _value("delete"), "Delete 1 memory for ever"),
    PageAction("memory.html: supersede", _ONE, _value("supersede"), "replaced by", (('[name="successor"]', "OTHER"),)),
    PageAction("memory.html: summary", _ONE, "#code summary", "def total"),
    # sessions
    PageAction(
        "sessions.html: Filter",
        "/sessions",
        '[aria-label="Filter"] button',
        "url:agent=codex",
        (('[name="agent"]', "codex"),),
    ),
    PageAction("sessions.html: next", "/sessions", '[rel="next"]', "url:offset=25", (), "many"),
    PageAction("sessions.html: prev", "/sessions?offset=25", '[rel="prev"]', "url:/sessions$", (), "many"),
    PageAction("session.html: good", "/sessions/s-1", f'{_SHOWN} [value="good"]', "Noted: that helped"),
    PageAction("session.html: bad", "/sessions/s-1", f'{_SHOWN} [value="bad"]', "Noted: that did not help"),
    PageAction("session.html: summary", "/sessions/s-1", "details summary", "money.py:1"),
    # search and symbols
    PageAction(
        "search.html: Search",
        "/search?q=tax",
        '[aria-label="Filter"] .first',
        "url:explain=1",
        (('[name="explain"]', "on"),),
        "",
    ),
    PageAction("search.html: copy", "/search?q=tax", "[data-copy]", "Copied", (), "", True),
    PageAction(
        "search.html: editor", "/search?q=tax", '#preview [data-action="editor"]', "link:vscode://file/", (), ""
    ),
    PageAction("search.html: open", "/search?q=tax", '#preview [data-action="open"]', "url:/symbol", (), ""),
    PageAction(
        "symbol.html: Show", "/symbol", '[aria-label="Symbol"] button', "Called by", (('[name="s"]', "tax"),), ""
    ),
    PageAction("symbol.html: editor", "/symbol?s=tax", '[data-action="editor"]', "link:vscode://file/", (), ""),
    PageAction("symbol.html: summary", "/symbol?s=tax", "summary", "return price", (), ""),
    # savings and tuning
    PageAction(
        "savings.html: Show",
        "/savings",
        '[aria-label="Period"] button',
        "url:by=agent",
        (('[name="by"]', "agent"),),
        "",
    ),
    PageAction("savings.html: download", "/savings", "[download]", "file:savings.csv", (), ""),
    PageAction("tuning.html: apply", "/tuning", _value("apply"), r"Version \d+ is used now", (), "tuning"),
    PageAction("tuning.html: rollback", "/tuning", _value("rollback"), r"Version \d+ is used again", (), "tuned"),
    # the system
    PageAction("system.html: index", "/system", _value("index"), "The index is being updated", (), ""),
    PageAction(
        "system.html: index of another",
        "/system",
        '#projects [aria-label="Update the index of other"]',
        "The index is being updated",
        (),
        "",
    ),
    PageAction("system.html: rebuild", "/system", _value("rebuild"), "The index is being updated", (), ""),
    PageAction("system.html: embed", "/system", _value("embed"), "embedded (again|already)"),
    PageAction("system.html: stop-embedding", "/system", _value("stop-embedding"), "Embedding stops", (), "embedding"),
    PageAction("system.html: Reload", "/system", "#embedding .when-no-script", "of .* vectors", (), "embedding", False),
    PageAction("checks.html: fix", "/system/checks", _value("fix"), "What could be mended is mended", (), "damage"),
    PageAction(
        "log.html: Show", "/system/log", '[aria-label="How much"] button', "url:lines=7", (('[name="lines"]', "7"),), ""
    ),
    PageAction("log-lines.html: Reload", "/system/log", "main .when-no-script", "The daemon's log", (), "", False),
    PageAction(
        "settings.html: Filter",
        "/settings",
        '[aria-label="Filter"] button',
        "1 of ",
        (('[name="text"]', "garbage"),),
        "",
    ),
    PageAction(
        "settings.html: set",
        "/settings?name=garbage_days",
        _value("set"),
        "garbage_days is 33 now",
        (('[name="value"]', "33"),),
        "",
    ),
    PageAction(
        "settings.html: unset", "/settings?name=history", _value("unset"), "history is true now, by default", (), ""
    ),
    PageAction("settings.html: copy", "/settings?name=daemon_host", "[data-copy]", "Copied", (), "", True),
)
