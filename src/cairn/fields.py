"""What the fields of requests mean and what they may be: one row each, for requests, flags, OpenAPI and MCP tools.

The command line reads this whenever it starts, so nothing is imported here that takes time.
"""

from __future__ import annotations


class Rule:
    """What a field means, and what its value must keep to beside its type. Lengths are of strings and of lists.

    `pattern` is a regular expression that a whole string must match. `choices` are those of the field's Literal, for
    who cannot wait for its import. A plain class, since making a NamedTuple takes as long as making all rows below.
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
DEFAULT_CORE_TOKENS = 1_500  # they are shown at the start of sessions
_MAX_ROWS = 100_000

# -- of most requests --------------------------------------------------------------------------------------------------
PROJECT = Rule("name or folder of a project; by default the one at hand", max_length=4_096)
HINTS = Rule(
    "whether notes say what to do next as commands of a terminal or as tools of MCP", choices=("commands", "tools")
)
BUILD = Rule("build the first index if there is none; false: that is an error, told at once")
NAME = Rule(min_length=1, max_length=1_000)
FILE = Rule("a file of the project, relative to its root", min_length=1, max_length=4_096)
BRANCH = Rule("a branch, tag or commit instead of what is checked out", min_length=1, max_length=1_000)
TOKENS = Rule(
    "what the answer may cost, in estimated tokens; what is left out is counted", least=0, most=MAX_ANSWER_TOKENS
)
UPDATE = Rule("look for changed files first, as the command line does; the daemon watches anyway")
SESSION = Rule("the session's id, as /api/session/start gave it", max_length=200)
REPEAT = Rule("send again what this session was sent already")

# -- of searches -------------------------------------------------------------------------------------------------------
QUERY = Rule("prose, a name, a quoted text, a regular expression, or `callers of X`")
SEARCH_LIMIT = Rule("hits at most; 0: all matches of an exact search", least=0, most=_MAX_ROWS)
MODE = Rule(
    "how the query is meant", choices=("auto", "hybrid", "literal", "regex", "symbol", "semantic", "structural")
)
KINDS = Rule("only definitions of these kinds: function, class...", max_length=50)
LANGUAGES = Rule("only files in these languages", max_length=50)
GLOBS = Rule("only these paths; !GLOB leaves out", max_length=50)
LINES_AROUND = Rule("show so many lines around the first line of a hit", least=0, most=1_000)
EXPLAIN = Rule("say what each score is made of")
EXPAND = Rule("show a few callers and callees of each hit")

SIMILAR_FILE = Rule("the file with the code that others are compared with")
SIMILAR_LINE = Rule("a line of `file`; the innermost definition there is meant", least=1)
SIMILAR_CODE = Rule("a text instead of a place; in the first of `languages`, if there are any")
SIMILAR_LIMIT = Rule("hits at most; 0: all that are similar", least=0, most=_MAX_ROWS)

# -- of texts, tasks and files -----------------------------------------------------------------------------------------
FETCH_IDS = Rule("ids from a search, or PATH#NAME from an outline", min_length=1, max_length=1_000)
SKIP_LINES = Rule("leave out so many lines of each text: a cut text goes on there", least=0)
TASK = Rule("what is to be done, in prose; instead of ids", max_length=10_000)
CONTEXT_IDS = Rule("ids from a search; instead of a task", max_length=50)
CONTEXT_FILES = Rule("files known to matter; they come first", max_length=50)
CONTEXT_LIMIT = Rule("definitions at most", least=1, most=50)
OUTLINE_MODE = Rule(
    "structure, one symbol with what is around it, or how functions flow", choices=("structure", "context", "extract")
)
OUTLINE_SYMBOL = Rule("only this definition: its name, or a line in it", min_length=1, max_length=1_000)

# -- of the symbol graph -----------------------------------------------------------------------------------------------
SYMBOL = Rule("NAME, CLASS.METHOD, PATH:NAME, PATH:LINE, PATH, or the id of a hit", min_length=1, max_length=2_000)
CHANGED = Rule("what changes, as for callers", min_length=1, max_length=2_000)
DIFF = Rule("what changed since this revision, instead of a symbol", min_length=1, max_length=1_000)
GRAPH_LIMIT = Rule("how many at most; 0: all", least=0, most=_MAX_ROWS)
PATH_FROM = Rule("the symbol that the path of calls begins with, as for callers", min_length=1, max_length=2_000)
PATH_TO = Rule("the symbol that the path of calls ends with", min_length=1, max_length=2_000)
IMPORTED = Rule("a path, a module's name, or a symbol of the file", min_length=1, max_length=4_096)
RELATION = Rule("what to ask; path: of calls from `symbol` to `target`; importers: of the file `symbol`")

# -- of core files and the index ---------------------------------------------------------------------------------------
SUMMARY = Rule("what the file is for, in a sentence", max_length=500)
SUGGEST_LIMIT = Rule("how many suggestions at most", least=1, most=100)
CORE_ACTION = Rule("what to do")
CORE_FILE = Rule("which file to mark or unmark")
CHECK = Rule("examine the index and all it stands on, too")
