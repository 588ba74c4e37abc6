"""Makes a text that anybody may have written fit to be shown to an agent: all of it visible, none of it structure.

What steers a terminal or hides from a reader goes: control characters and escape sequences, marks of direction, and
letters without a shape. What a model might take for a message of its user or its program loses that shape: tags, the
marks of chat templates, links, fences, and the brackets that the injection itself is laid out with. Of tags and
brackets, look-alikes count, too. Words stay as they are; that they are data is said around them.
"""

from __future__ import annotations

import re
import unicodedata

from cairn.source.text import cut_at_word

# Sequences that terminals obey: with parameters, with a text up to its end, and of two characters.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
# Letters and marks that show nothing, and are not of the categories for that.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_MOST_MARKS = 3  # on a letter; more of them spill over the lines around it

_OPENING = (
    "\u02c2\u1438\u16b2\u2039\u226a\u226e\u22d6\u2329\u276e\u2770\u27e8\u27ea\u2991\u29fc\u3008\u300a\ufe64\uff1c"
)
_CLOSING = (
    "\u02c3\u1433\u16b3\u203a\u226b\u226f\u22d7\u232a\u276f\u2771\u27e9\u27eb\u2992\u29fd\u3009\u300b\ufe65\uff1e"
)
_LESS, _MORE = "\u2039", "\u203a"  # what a tag's brackets become: readable, and no tag
OPEN, CLOSE = "\u27e6", "\u27e7"  # what an injection is laid out with
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys(_OPENING, _LESS),
        **dict.fromkeys(_CLOSING, _MORE),
        **dict.fromkeys(f"{OPEN}\u301a\u2985\u2997\u3014\u3010\uff3b", "["),
        **dict.fromkeys(f"{CLOSE}\u301b\u2986\u2998\u3015\u3011\uff3d", "]"),
        "\uff5c": "|",
    }
)
# `<name …>`, `</name>`, `<!…`, `<?…`, `<|…|>`; what is less than something stays.
_TAG = re.compile(r"<(\s*[/!?|%#]*\s*[^\W\d][^<>\n]{0,200})>")
_TAG_START = re.compile(r"<(?=[/!?|%]|[^\W\d])")
_TURN = re.compile(
    r"\[(\s*/?\s*(?:inst|sys|system|user|human|assistant|developer|tool(?:_\w+)?|available_tools)\b[^\[\]\n]{0,40})\]",
    re.IGNORECASE,
)
# Of code, only what no language writes, or what names a message: `Map<K, V>` stays.
_FRAME = str.maketrans({OPEN: "[", CLOSE: "]"})
_CODE_TAG = re.compile(
    r"<(\s*(?:[/|]|[!?][a-z-]|(?:system|user|human|assistant|developer|tool|function|important|instructions)"
    r"(?:[-_]\w+)*\s*>))",
    re.IGNORECASE,
)
_FENCE = re.compile("`{3,}|~{3,}")
_IMAGE, _LINK = re.compile(r"!(?=\[)"), re.compile(r"\](?=\()")


def inert_text(text: str, max_chars: int, max_lines: int) -> str:
    """Return a text as it may be shown, on so many lines at most, without empty ones.

    Args:
        text: of any length, from anybody.
        max_chars: what is longer ends after a word, with an ellipsis.
        max_lines: what has more ends with an ellipsis, too.
    """
    lines = [" ".join(line.split()) for line in _visible(text).split("\n")]
    lines = [line for line in lines if line]
    kept = "\n".join(lines[:max_lines])
    if len(lines) > max_lines:
        kept = f"{kept[: max_chars - 2]} …"
    return _plain(cut_at_word(kept, max_chars))


def inert_line(text: str, max_chars: int) -> str:
    """Return a text as it may be shown on one line; see `inert_text`."""
    return _plain(cut_at_word(" ".join(_visible(text).split()), max_chars))


def inert_code(text: str) -> str:
    """Return lines of code as they may be shown: all of them, with their indentation, most operators as they are."""
    return "\n".join(_inert_line_of_code(line) for line in _LINE_ENDS.sub("\n", text).split("\n"))


def _inert_line_of_code(line: str) -> str:
    margin = line[: len(line) - len(line.lstrip(" \t"))].expandtabs()
    line = _visible(line.strip()).translate(_FRAME)
    line = _CODE_TAG.sub(rf"{_LESS}\1", line)
    return margin + _FENCE.sub("''", _TURN.sub(r"(\1)", line))


def _visible(text: str) -> str:
    """Return a text without what nobody sees, its lines ended alike."""
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    text = _CONTROLS.sub(" ", text)
    return text if text.isascii() else _visible_letters(text)


def _visible_letters(text: str) -> str:
    letters: list[str] = []
    n_marks = 0
    for letter in unicodedata.normalize("NFC", text):
        category = unicodedata.category(letter)
        n_marks = n_marks + 1 if category in ("Mn", "Me") else 0
        if letter == "\n":
            letters.append(letter)
        elif category == "Zs":
            letters.append(" ")
        elif "\udc80" <= letter <= "\udcff":  # a byte in the name of a file that is not UTF-8
            letters.append(f"\\x{ord(letter) - 0xDC00:02x}")
        elif category[0] != "C" and n_marks <= _MOST_MARKS and letter not in _BLANKS and not _is_selector(letter):
            letters.append(letter)
    return "".join(letters)


def _is_selector(letter: str) -> bool:
    """Tell whether a letter only chooses a shape of the one before it; any byte can be hidden in these."""
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def _plain(text: str) -> str:
    """Return a text without what looks like structure, as long as before or a little longer."""
    text = text.translate(_LOOK_ALIKES)
    text = _TAG_START.sub(_LESS, _TAG.sub(rf"{_LESS}\1{_MORE}", text))
    text = _TURN.sub(r"(\1)", text)
    text = _FENCE.sub("''", text)
    return _LINK.sub("] ", _IMAGE.sub("! ", text))
