"""What Cairn knows about a language beyond the names of its files, as data; each folder beside this file has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Pair = tuple[str, str]
Frame = tuple[str, str, str]

SLASH_BLOCKS = (("/*", "*/"),)
MARKUP_BLOCKS = (("<!--", "-->"),)

BARE: Frame = ("", "", "")
BRACES: tuple[Frame, ...] = (BARE, ("", " { $$$ }", ""))
IN_FUNCTION: tuple[Frame, ...] = (("void f() { ", ";", " }"), ("void f() { ", "", " }"))
IN_CLASS: tuple[Frame, ...] = (
    ("class A { ", "", " }"),
    ("class A { ", " { $$$ }", " }"),
    ("class A { void f() { ", "", "; } }"),
    ("class A { void f() { ", "", " } }"),
)


@dataclass(frozen=True, slots=True)
class Support:
    """How one language is parsed, cut, listed and searched.

    Attributes:
        grammar: `module:function` of the wheel, empty for text that is cut on line borders.
        folders: whose `definitions.scm`, `members.scm` and `references.scm` are read, one after the other; empty for
            the language's own alone. Where two patterns match the same definition, the earlier one counts.
        line_comments: what begins a comment that ends with its line.
        block_comments: what begins and ends any other.
        attributes: the beginnings of lines that may stand between a comment and the definition it describes.
        noise: patterns whose first group the grammar cannot parse; the parser sees spaces in its place.
        wrappers: patterns of what opens a block around items without changing them: its indentation, its opening, and
            the name in it. The parser sees spaces for the opening, and for the brace that closes it.
        code_of: returns what the parser reads of a file that is not all code, as many bytes as the file has.
        import_calls: a pattern for the text of statements that import although their node type does not say so.
        import_holders: node types, besides the usual ones, that contain imports.
        parameters: how a parameter is written: `name: type`, `name type` or `type name`.
        frames: what completes a structural pattern, as (before, completion, after); empty where ast-grep does
            not know the language.
    """

    grammar: str = ""
    folders: tuple[str, ...] = ()
    line_comments: tuple[str, ...] = ()
    block_comments: tuple[Pair, ...] = ()
    attributes: tuple[str, ...] = ()
    noise: tuple[bytes, ...] = ()
    wrappers: tuple[bytes, ...] = ()
    code_of: Callable[[bytes], bytes] | None = None
    import_calls: str = ""
    import_holders: tuple[str, ...] = ()
    parameters: str = "name: type"
    frames: tuple[Frame, ...] = ()


NO_SUPPORT = Support()
