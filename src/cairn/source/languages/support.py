"""What Cairn knows about a language beyond its file names, as data; each folder beside this file has one."""

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
    """How to parse, chunk, outline and search one language.

    Attributes:
        grammar: `module:function` of the wheel, empty for text that is only cut between lines.
        folders: those whose `definitions.scm`, `members.scm` and `references.scm` are concatenated; empty for just the
            language's own. If two patterns match the same definition, the earlier one counts.
        line_comments: the openings of comments that end with the line.
        block_comments: the openings and closings of other comments.
        attributes: the beginnings of lines that may be between a comment and the definition it describes.
        noise: patterns whose first group the grammar cannot parse; the parser sees spaces instead.
        wrappers: patterns for the opening of a block that wraps items without changing them: its indentation, its
            opening, and the name of a macro in it, if any. The parser sees spaces instead of opening and closing brace.
        code_of: for files that are not all code, returns the code in place, of the same length as the file.
        import_calls: a pattern for statements that are imports although their node type does not say so.
        import_holders: node types, besides the usual ones, that contain imports.
        parameters: the form of parameters: `name: type`, `name type` or `type name`.
        frames: how to complete a structural pattern, as (before, completion, after); empty if ast-grep does not know
            the language.
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
