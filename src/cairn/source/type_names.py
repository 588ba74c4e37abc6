"""Reads the class that a type annotation names, in any language's syntax, and the element type of containers.

Containers have one form for all languages, `Name<Type>`: `Type[]`, `[Type]` and `[]Type` are `Array<Type>`, and a tuple
is `Tuple<A,B>`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_MAX_TYPE_CHARS = 400
_SPACE = re.compile(r"\s+")
_WRAPPER = re.compile(
    r"^(?:Pin|ManuallyDrop|Optional|Annotated|Final|ClassVar|Required|Readonly|Promise|Awaitable|Box|Rc|Arc|Ref|RefCell|Mutex|RwLock"
    r"|Lazy|Partial|Task|ValueTask|unique_ptr|shared_ptr|Self)[\[<](.+)[\]>]$"
)
_TYPE_MODIFIERS = re.compile(
    r"^(?:(?:const|mut|dyn|impl|any|some|weak|borrowing|consuming|final|static|struct|readonly|in|out|ref) "
    r"|&(?:'\w+ )?|\*)+"
)
_ANNOTATED = re.compile(r"^(?:&(?:'\w+ )?|\*|mut |dyn |impl |any |some |readonly |const |final |static |out |in )+")
_GENERIC = re.compile(r"([\w.:]+?)(?:::)?<(.*)>")
_WORD_ARRAY = re.compile(r"([\w.]+(?:<[\w.,<> ]*>)?)\[\]")
_BRACKETED = re.compile(r"\[(?:(?P<key>[\w.<>?]+) ?: ?)?(?P<item>.+?)(?:; ?[^\[\]]+)?\]")
_NAMED_ITEM = re.compile(r"^\w+ ?= ?")
# Types of standard libraries: those whose elements are of their first type argument, and of their last.
_HOLD_FIRST = """
    Array ArrayDeque ArrayList BinaryHeap BTreeSet Collection Deque Flow HashSet ICollection IEnumerable IList
    IReadOnlyCollection IReadOnlyList Iterable Iterator LinkedHashSet LinkedList List MutableCollection
    MutableIterable MutableIterator MutableList MutableSet Option Poll Queue ReadonlyArray ReadonlySet Result
    IndexedSeq LazyList Seq Sequence Set Slice SortedSet Stream Vec VecDeque Vector list
"""
HOLD_FIRST = frozenset(_HOLD_FIRST.split())
_HOLD_LAST = """
    BTreeMap ConcurrentHashMap ConcurrentMap Dictionary HashMap IDictionary IReadOnlyDictionary LinkedHashMap
    Map MutableMap ReadonlyMap SortedMap TreeMap array iterable
"""
HOLD_LAST = frozenset(_HOLD_LAST.split())
TUPLE = "Tuple"
# Of Scala, and of the `typing` of Python.
_IN_SQUARE = re.compile(
    r"(Array|IndexedSeq|Iterable|Iterator|LazyList|List|Map|Option|Seq|Sequence|Set|Vector)\[(.+)\]"
)
_NOT_A_TYPE = frozenset({"None", "null", "undefined", "nil", "any", "Any", "object", "var", "auto", "let", "val"})


@lru_cache(maxsize=1 << 14)
def type_name(text: str) -> str:
    """Return the class that a type annotation names, empty for a union, a container, or none."""
    if len(text) > _MAX_TYPE_CHARS:
        return ""
    text = _SPACE.sub(" ", text).strip().lstrip(":?").strip().strip("\"'")
    text = _TYPE_MODIFIERS.sub("", text)
    text = re.sub(r"(?:[?*&!]| const)+$", "", text)
    if text.startswith("(any ") and text.endswith(")"):
        text = text[5:-1]
    parts = [part.strip().strip("\"'") for part in text.split("|")] if "[" not in text.partition("|")[0] else [text]
    parts = [part for part in parts if part not in _NOT_A_TYPE]
    if len(parts) != 1:
        return ""
    text = parts[0]
    inner = text.rpartition("::")[2] if text.startswith("std::") else text.removeprefix("typing.").removeprefix("t.")
    if wrapped := _WRAPPER.match(inner):
        return type_name(wrapped[1].split(",")[0])
    if (
        text.startswith(("list[", "List[", "dict[", "Dict[", "tuple[", "set[", "Callable["))
        or text == "Callable"
        or text.endswith("[]")
    ):
        return ""
    text = re.sub(r"[\[<].*$", "", text).replace("::", ".").replace("\\", ".").lstrip(".").strip()
    return text if re.fullmatch(r"[\w$]+(?:\.[\w$]+)*", text) and text not in _NOT_A_TYPE else ""


@lru_cache(maxsize=1 << 14)
def type_text(text: str) -> str:
    """Return the class that a type names, with its element type for a container; see the top of this file."""
    if len(text) > _MAX_TYPE_CHARS or "|" in text or not ("<" in text or "[" in text or "(" in text):
        return type_name(text)
    plain = _ANNOTATED.sub("", _SPACE.sub(" ", text).strip().lstrip(":?").strip()).strip().rstrip("?!")
    if wrapped := _WRAPPER.match(
        plain.rpartition("::")[2] if plain.startswith("std::") and "<" not in plain else plain
    ):
        return type_text(split_types(wrapped[1])[0])
    if plain.startswith("(") and plain.endswith(")"):
        items = split_types(plain[1:-1])
        if len(items) > 1:
            return f"{TUPLE}<{','.join(type_text(item.rpartition(': ')[2]) for item in items)}>"
        return type_name(text)
    if array := _WORD_ARRAY.fullmatch(plain):
        return _held("Array", [array[1]])
    if (array := _BRACKETED.fullmatch(plain)) and len(split_types(array["item"])) == 1:
        return _held("Map" if array["key"] else "Array", [array["item"]])
    if square := _IN_SQUARE.fullmatch(plain):
        return _held(square[1], split_types(square[2]))
    if generic := _GENERIC.fullmatch(plain):
        base = generic[1].replace("::", ".").rpartition(".")[2]
        if base in HOLD_FIRST or base in HOLD_LAST:
            items = [item for item in split_types(generic[2]) if not item.startswith("'")]
            return _held(type_name(generic[1]), items)
    return type_name(text)


def type_written(node: tree_sitter.Node) -> str:
    """Return the text of a type with its arguments, which Dart's grammar puts beside its name."""
    following = node.next_sibling if node.type == "type_identifier" else None
    arguments = following.text if following is not None and following.type == "type_arguments" else b""
    return ((node.text or b"") + (arguments or b"")).decode("utf-8", "replace")


def _held(base: str, items: list[str]) -> str:
    texts = [type_text(_NAMED_ITEM.sub("", item)) for item in items]
    return f"{base}<{','.join(texts)}>" if base and any(texts) else base


def split_types(text: str) -> list[str]:
    """Split a list of types at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[place - 1 : place] not in ("-", "=")):
            depth -= 1
        elif letter == "," and depth <= 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in (*parts, text[start:].strip()) if part] or [""]
