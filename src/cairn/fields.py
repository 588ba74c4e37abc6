"""The meaning and the limits of the fields of requests: one row each, for requests, flags, OpenAPI and MCP tools.

The command line imports this at every start, so it must not import anything slow.
"""

from __future__ import annotations


class Rule:
    """The meaning of a field, and the limits of its value. Lengths are those of strings and of lists.

    `pattern` is a regular expression that the whole string must match. `choices` repeats those of the field's Literal,
    for the command line, which does not import it. This is a plain class because defining a NamedTuple takes as long as
    making all rows below.
    """

    __slots__ = ("choices", "least", "max_length", "min_length", "most", "pattern", "text")

    def __init__(
        self,
        text: str = "",
        *,
        least: float | None = None,
        most: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.text = text
        self.least = least
        self.most = most
        self.min_length = min_length
        self.max_length = max_length
        self.pattern = pattern
        self.choices = choices


MAX_ANSWER_TOKENS = 1_000_000
DEFAULT_ANSWER_TOKENS = 8_000
DEFAULT_CORE_TOKENS = 1_500  # core files are shown at the start of sessions
_MAX_ROWS = 100_000

# -- of most requests --------------------------------------------------------------------------------------------------
PROJECT = Rule("other project: name, folder, ORG/NAME", max_length=4_096)
HINTS = Rule(
    "how notes say what to do next: as commands of a terminal or as tools of MCP", choices=("commands", "tools")
)
BUILD = Rule("build the first index if there is none; false: fail at once instead")
NAME = Rule(min_length=1, max_length=1_000)
FILE = Rule("a file of the project, relative to its root", min_length=1, max_length=4_096)
BRANCH = Rule("a branch, tag or commit instead of what is checked out", min_length=1, max_length=1_000)
TOKENS = Rule(
    "the limit of the answer, in estimated tokens; what is left out is counted", least=0, most=MAX_ANSWER_TOKENS
)
UPDATE = Rule("look for changed files first, as the command line does; the daemon also watches")
SESSION = Rule("the session's id, as returned by /api/session/start", max_length=200)
REPEAT = Rule("send again what this session has already received")

# -- of searches -------------------------------------------------------------------------------------------------------
QUERY = Rule("prose, a name, a quoted text, `callers of X`, a whole issue or trace")
SEARCH_LIMIT = Rule("hits at most; 0: all matches of an exact search", least=0, most=_MAX_ROWS)
MODE = Rule(
    "how to understand the query", choices=("auto", "hybrid", "literal", "regex", "symbol", "semantic", "structural")
)
SEARCH_TYPE = Rule(
    "what to search: code, memories, or both; `recall` chooses by the kind of a memory",
    choices=("all", "code", "memory"),
)
KINDS = Rule("only definitions of these kinds: function, class...", max_length=50)
LANGUAGES = Rule("only files in these languages", max_length=50)
GLOBS = Rule("only these paths; !GLOB leaves out", max_length=50)
LINES_AROUND = Rule("lines to show around the first of a hit", least=0, most=1_000)
EXPLAIN = Rule("show the parts of each score")
EXPAND = Rule("show a few callers and callees of each hit")

SIMILAR_FILE = Rule("the file with the code to compare with")
SIMILAR_LINE = Rule("a line of `file`; the innermost definition there is compared", least=1)
SIMILAR_CODE = Rule("code instead of a place, in the first of `languages` if given")
SIMILAR_LIMIT = Rule("hits at most; 0: all that are similar", least=0, most=_MAX_ROWS)

# -- of texts, tasks and files -----------------------------------------------------------------------------------------
FETCH_IDS = Rule("ids from a search, PATH#NAME, PATH:LINE, or a traceback's frame", min_length=1, max_length=1_000)
SKIP_LINES = Rule("lines to skip of each text, to continue one that was cut", least=0)
TASK = Rule("what is to be done, in prose or a whole issue; instead of ids")
CONTEXT_IDS = Rule("ids from a search; instead of a task", max_length=50)
CONTEXT_FILES = Rule("files known to matter; they come first", max_length=50)
CONTEXT_LIMIT = Rule("definitions at most", least=1, most=50)
OUTLINE_MODE = Rule(
    "structure, one symbol with what is around it, or how functions flow", choices=("structure", "context", "extract")
)
OUTLINE_SYMBOL = Rule("only this definition: its name, or a line in it", min_length=1, max_length=1_000)

# -- of the symbol graph -----------------------------------------------------------------------------------------------
SYMBOL = Rule("NAME, CLASS.METHOD, PATH:NAME, PATH:LINE, PATH, or the id of a hit", min_length=1, max_length=2_000)
CHANGED = Rule("the symbol that changes, as for callers", min_length=1, max_length=2_000)
DIFF = Rule("all that changed since this revision, instead of a symbol", min_length=1, max_length=1_000)
GRAPH_LIMIT = Rule("how many at most; 0: all", least=0, most=_MAX_ROWS)
PATH_FROM = Rule("the symbol at which the path of calls begins, as for callers", min_length=1, max_length=2_000)
PATH_TO = Rule("the symbol where the path of calls ends", min_length=1, max_length=2_000)
IMPORTED = Rule("a path, the name of a module, or a symbol in the file", min_length=1, max_length=4_096)
RELATION = Rule("what to ask")
FLOW_PLACE = Rule("a function, FILE:NAME or FILE:LINE", min_length=3, max_length=4_400)
REFERENCE_KINDS = Rule("only references of these kinds", max_length=8)
ASKED_ABOUT = Rule("NAME, CLASS.METHOD, PATH:NAME or PATH:LINE", min_length=1, max_length=2_000)

# -- of the history ----------------------------------------------------------------------------------------------------
HISTORY_QUERY = Rule("prose, a file, a folder, a symbol, #NUMBER, or a hash", min_length=1, max_length=10_000)
SHAPED = Rule("a line or lines of a file, PATH:LINE or PATH:FIRST-LAST", min_length=1, max_length=4_200)
HISTORY_LIMIT = Rule("how many at most; 0: all", least=0, most=_MAX_ROWS)

# -- of core files and the index ---------------------------------------------------------------------------------------
SUMMARY = Rule("what the file is for, in a sentence", max_length=500)
SUGGEST_LIMIT = Rule("how many suggestions at most", least=1, most=100)
CORE_ACTION = Rule("what to do")
CORE_FILE = Rule("the file to mark")
CHECK = Rule("also examine the index and everything it depends on")

# -- of memories -------------------------------------------------------------------------------------------------------
_TYPES = ("gotcha", "decision", "bug_fix", "discovery", "trade_off", "session_summary")
_ORIGINS = ("captured", "agent", "person", "imported")
_STATUSES = ("active", "resolved", "superseded", "archived")
ACTOR = Rule("who asks for it: agent:NAME or person:NAME", pattern=r"(|(person|agent):[^\x00-\x1f\x7f]{1,200})")
MEMORY_TEXT = Rule("what to remember, in a sentence or a few", min_length=1, max_length=10_000)
MEMORY_TYPE = Rule("what kind of memory it is", choices=_TYPES)
MEMORY_FILES = Rule("files it is about, or FILE::NAME of a definition", max_length=50)
IMPORTANCE = Rule("how much it matters, from 1 to 10", least=1, most=10)
TAGS = Rule("words to find it by", max_length=20)
SHARED = Rule("share it with everybody who works on the project, through git")
MEMORY_SESSION = Rule("the session it was learned in", max_length=200)
MEMORY_ID = Rule("the id of a memory, as m_0123456789", min_length=1, max_length=100)
MEMORY_IDS = Rule("ids of memories, as m_0123456789", min_length=1, max_length=1_000)
RESOLVED_IDS = Rule("ids of memories, as m_0123456789", max_length=1_000)
FRESH_SESSION = Rule("this session, by the agent's own id, instead of the next one", max_length=200)
RESOLVED_SESSION = Rule("all that this session learned and that is active", max_length=200)
REASON = Rule("why, in a sentence", max_length=500)
NEW_STATUS = Rule("what the memories are from now on", choices=_STATUSES)
SUCCESSOR = Rule("the memory that takes their place", max_length=100)
NEW_TEXT = Rule("the new text", min_length=1, max_length=10_000)
ADDED_TAGS = Rule("tags to add", max_length=20)
REMOVED_TAGS = Rule("tags to take away", max_length=20)
ADDED_FILES = Rule("files to link, or FILE::NAME of a definition", max_length=50)
REMOVED_FILES = Rule("links to take away, as they are listed", max_length=50)
MEMORY_TYPES = Rule("only memories of these types", choices=_TYPES, max_length=10)
MEMORY_STATUSES = Rule("only memories with these statuses", choices=_STATUSES, max_length=10)
MEMORY_ORIGINS = Rule("only memories that came to be so", choices=_ORIGINS, max_length=10)
OF_FILE = Rule("only those about this file, or about what is in this folder/", max_length=4_096)
OF_SESSION = Rule("only those of this session", max_length=200)
OF_TAG = Rule("only those with this tag", max_length=500)
OF_BRANCH = Rule("only those of this branch", max_length=1_000)
OF_TEXT = Rule("only those that say this, in any case", max_length=1_000)
SINCE = Rule("only those made since: a date as 2026-01-31 (UTC), or 12h, 7d, 4w ago", max_length=20)
UNTIL = Rule("only those made up to then, the day included; as since", max_length=20)
RECALL_QUERY = Rule("what you want to know, in prose", min_length=1, max_length=10_000)
RECALL_LIMIT = Rule("memories at most", least=1, most=100)
INCLUDE_RESOLVED = Rule("also those that are settled or superseded")
ALL_BRANCHES = Rule("also those from branches that are not merged here")
BULK_ACTION = Rule("what is done with them", choices=("archive", "resolve", "reopen", "keep", "forget"))
BULK_DRY_RUN = Rule("only say which would be changed")
EXPORT_IDS = Rule("ids of memories, as m_0123456789; none: all", max_length=10_000)
EXPORT_SHARED = Rule("only shared memories")
EMBED_DRY_RUN = Rule("only say what it would take")
MEMORY_LIMIT = Rule("memories at most; 0: all", least=0, most=_MAX_ROWS)
OFFSET = Rule("leave out this many of the newest", least=0, most=1_000_000)

# -- of sessions -------------------------------------------------------------------------------------------------------
SESSION_IDS = Rule("the ids of sessions, the agents' own", min_length=1, max_length=100)
OF_AGENT = Rule("only those of this agent, such as claude-code", max_length=100)
HEARD_SINCE = Rule("only those heard of since: a date as 2026-01-31 (UTC), or 12h, 7d, 4w ago", max_length=20)
SESSION_FILE = Rule("only those that touched this file, or what is in this folder/", max_length=4_096)
SESSION_TEXT = Rule("only those with a prompt that has these words, in any case", max_length=1_000)
SAVINGS_DAYS = Rule("of so many days, today included (UTC)", least=1, most=3_650)
SAVINGS_GROUP = Rule("what to sum up by", choices=("day", "agent", "kind"))
SESSION_LIMIT = Rule("sessions at most; 0: all", least=0, most=_MAX_ROWS)
FAILED_SINCE = Rule("only calls since: a date as 2026-01-31 (UTC), or 12h, 7d, 4w ago", max_length=20)
FAILED_LIMIT = Rule("calls at most; 0: all", least=0, most=_MAX_ROWS)

# -- of feedback -------------------------------------------------------------------------------------------------------
FEEDBACK_IDS = Rule("ids of hits or memories, PATH, or PATH:LINE", min_length=1, max_length=100)
VERDICT = Rule("what they were", choices=("good", "bad"))
FEEDBACK_SESSION = Rule("the session that was shown them, instead of the last one that was", max_length=200)
ASKED_SINCE = Rule("only those asked since: a date as 2026-01-31 (UTC), or 12h, 7d, 4w ago", max_length=20)
EMPTY_ONLY = Rule("only those that found nothing")
QUESTION_LIMIT = Rule("questions at most; 0: all", least=0, most=_MAX_ROWS)

# -- of tuning ---------------------------------------------------------------------------------------------------------
TUNING_VERSION = Rule("the number of a version; 0: the shipped values", least=0, most=1_000_000)
SEED = Rule("the seed of all that is drawn", least=0, most=2**31)
TUNING_SECONDS = Rule("look at examples for so many seconds at most", least=1, most=3_600)
TEXT_CALLS = Rule("ask the chat model at most so often to improve texts; 0: not at all", least=0, most=5_000)
APPLY_TUNING = Rule("use the version if it passes")
QUESTIONS = Rule("questions in JSON Lines", min_length=1, max_length=5_000_000)
EVAL_LIMIT = Rule("questions at most, the newest", least=1, most=1_000)
