"""Counts the arguments of calls, in languages with overloading.

If they cannot be counted, because the call spreads a list or may expand a macro, the count is `UNKNOWN`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

OVERLOADING = frozenset({"cpp", "csharp", "java", "kotlin", "scala", "swift"})
UNKNOWN = -1
_MAX_STEPS = 3  # levels from a called name up to its call
_TYPE_ARGUMENT = re.compile(r"<[\w.?\s]*>")
_MACRO = re.compile(r"\b(?:[A-Z][A-Z0-9_]+|__VA_ARGS__)\b")
_DIRECTED = frozenset({"cpp", "csharp"})  # languages with preprocessor directives
# What may stand for any number of arguments.
_SEVERAL = {
    "cpp": re.compile(rf"\.\.\.|{_MACRO.pattern}|#"),
    "csharp": re.compile("#"),
    "kotlin": re.compile(r"(?:^|,)\s*\*"),
    "scala": re.compile(r"\*"),
}


def count_in_text(content: str, language: str) -> int:
    """Return how many arguments the text between a pair of parentheses has.

    Args:
        content: the text, without strings and with all inner brackets emptied.
        language: one of `OVERLOADING`.
    """
    content = content.strip()
    if not content:
        return 0
    several = _SEVERAL.get(language)
    if "/*" in content or "//" in content or (several is not None and several.search(content)):
        return UNKNOWN
    if "," not in content:
        return 1
    if "<" in _TYPE_ARGUMENT.sub("", content):
        return UNKNOWN  # commas may separate type arguments
    return content.removesuffix(",").count(",") + 1


def count_given(name: tree_sitter.Node, language: str) -> int:
    """Return how many arguments a call has, including closures after its parentheses.

    Args:
        name: the node of the called name.
        language: one of `OVERLOADING`.
    """
    call = name.parent
    if call is None:
        return UNKNOWN
    if language in ("kotlin", "swift"):
        return _count_with_closures(call, language)
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return UNKNOWN
    if language == "scala" and arguments.type != "arguments":
        return 1  # a block
    return _count_within(arguments, language)


def _count_with_closures(call: tree_sitter.Node, language: str) -> int:
    for _ in range(_MAX_STEPS):
        if call.type == "call_expression" or call.parent is None:
            break
        call = call.parent
    given = call.named_children[1:]
    if language == "swift" and given and given[0].type == "call_suffix":
        given = given[0].named_children
    around = call.parent if language == "kotlin" else None
    if around is not None and around.type == "call_expression" and around.named_child(0) == call:
        given = [*given, *around.named_children[1:]]  # `name(…) { … }` is one call
    count, is_known = 0, False
    for part in given:
        if part.type == "value_arguments":
            inside = _count_within(part, language)
            if inside < 0 or is_known:
                return UNKNOWN
            count += inside
        elif part.type in ("annotated_lambda", "lambda_literal"):
            count += 1
        else:
            continue
        is_known = True
    return count if is_known else UNKNOWN


def _count_within(arguments: tree_sitter.Node, language: str) -> int:
    text = arguments.text or b""
    if not text.startswith(b"(") or arguments.has_error or (language in _DIRECTED and b"#" in text):
        return UNKNOWN
    count = arguments.named_child_count
    has_comment = b"//" in text or b"/*" in text
    if count and (has_comment or language == "cpp" or b"*" in text):
        given = [child for child in arguments.named_children if not child.is_extra]
        return UNKNOWN if any(map(_stands_for_several, given)) else len(given)
    return count


def _stands_for_several(argument: tree_sitter.Node) -> bool:
    if argument.type == "value_argument":  # Kotlin
        return any(part.type == "spread_expression" for part in argument.named_children)
    if argument.type == "identifier":
        return _MACRO.fullmatch((argument.text or b"").decode("utf-8", "replace")) is not None
    return argument.type in ("vararg", "parameter_pack_expansion")
