"""Edits single values of somebody else's file, without changing any other byte.

A document is a parsed text. Each change returns another document, and the last one is written. A change is only made if
an independent parser finds every other value of the file unchanged.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple, Self

from cairn.documents import block, brackets, sections
from cairn.documents.layout import Layout, as_text
from cairn.documents.nodes import (
    MAX_BYTES,
    MAX_PARSED_BYTES,
    MISSING,
    Format,
    Names,
    Node,
    Path,
    PathStep,
    Splice,
    apply_splices,
    has_kind,
    invalid,
    line_of,
    not_editable,
    too_large,
)
from cairn.documents.rendering import render
from cairn.documents.syntax import read_nodes
from cairn.documents.values import from_plain, read_values, same, to_plain, value_at, with_value
from cairn.errors import ConfigError

_BOM = b"\xef\xbb\xbf"


class Edit(NamedTuple):
    """A change of a document that can be undone later; in JSON, `list(edit)`.

    Attributes:
        path: of the value, or of the list that it was added to.
        value: the new one.
        kind: `set` for a new value, `replace`, or `append` to a list.
        created: how many of the last names of the path were new, plus one if the file was empty.
        previous: what was replaced.
        splices: what was written, and where.
    """

    path: tuple[str | int, ...]
    value: Any
    kind: str
    created: int
    previous: Any
    splices: tuple[Splice, ...]

    @classmethod
    def from_json(cls, document: list[Any]) -> Self:
        """Return a change from its JSON."""
        path, value, kind, created, previous, splices = document
        return cls(tuple(path), value, kind, created, previous, tuple(Splice(*splice) for splice in splices))


def parse_document(content: bytes, format: Format, source: str) -> Document:
    """Parse a document; an empty text is valid, too.

    Args:
        content: of the file.
        format: of the file; `jsonc` has comments and may have a comma after the last value.
        source: the file, for messages.

    Raises:
        ConfigError: with file and line, if it is too large, not valid, or nested too deeply.
    """
    return Document(content, format, source)


class Document:
    """A text in JSON, JSONC, TOML or YAML. It never changes; `set`, `append` and `remove` return another one.

    All three raise a ConfigError if something on the path has the wrong kind or a duplicate name, or if the change
    would affect anything else.

    Attributes:
        content: the text.
        format: of the text.
        body: the text without a byte order mark.
        values: its values, with `Names` for mappings; MISSING if it is empty.
        edits: the changes since it was parsed, for `undo`.
    """

    def __init__(self, content: bytes, format: Format, source: str, edits: tuple[Edit, ...] = ()) -> None:
        limit = MAX_BYTES if format == "json" else MAX_PARSED_BYTES
        if len(content) > limit:
            raise too_large(source, limit)
        self.content = content
        self.edits = edits
        self.format: Format = format
        self._source = source
        self._bom = _BOM if content.startswith(_BOM) else b""
        self.body = content[len(self._bom) :]
        self.values = read_values(self.body, format, source)
        self._root = read_nodes(self.body, self.values, format, source)
        self._layout = Layout(self.body, format, self._root)

    @property
    def is_empty(self) -> bool:
        """Whether it is empty, or has empty braces."""
        return self.values is MISSING or (isinstance(self.values, list) and not self.values)

    def get(self, path: Path = (), default: Any = None) -> Any:  # noqa: ANN401 - whatever the file says
        """Return the value at a path, as dictionaries and lists."""
        value = value_at(self.values, path)
        return default if value is MISSING else to_plain(value)

    def set(self, path: Path, value: Any) -> Document:  # noqa: ANN401 - JSON
        """Return the document with a value at a path: an equal one stays, another is replaced, else it is added."""
        steps, node, rest = self._reach(path)
        if rest or node is None:
            return self._add(steps, node, tuple(path), rest, value, "set")
        previous = value_at(self.values, path)
        if same(previous, from_plain(value)):
            return self
        edit = Edit(tuple(path), deepcopy(value), "replace", 0, to_plain(previous), ())
        expected = with_value(self.values, path, from_plain(value))
        return self._edited(self._replacement(steps, node, tuple(path), value), edit, [expected])

    def append(self, path: Path, value: Any) -> Document:  # noqa: ANN401 - JSON
        """Return the document with a value at the end of a list."""
        steps, node, rest = self._reach(path)
        if rest or node is None:
            return self._add(steps, node, tuple(path), rest, [value], "append", value)
        current = value_at(self.values, path)
        if not _is_list(current) and not (current is None and self._may_be_filled(steps)):
            raise self._wrong_kind(path, node, "sequence")
        longer = [*(current or ()), from_plain(value)]
        edit = Edit(tuple(path), deepcopy(value), "append", 0, None, ())
        splices = self._insertion(steps, node, tuple(path), None, value)
        return self._edited(splices, edit, [with_value(self.values, path, longer)])

    def remove(self, path: Path, created: int = 1) -> Document:
        """Return the document without the value at a path, itself if there is none.

        Args:
            path: of the value.
            created: how many of the last names to remove as well if they become empty; 1 for just the value.
        """
        steps, node, rest = self._reach(path)
        if rest or node is None or not path:
            return self
        without = with_value(self.values, path, MISSING)
        accepted = [without]
        for length in range(len(path) - 1, 0, -1):  # a TOML table may exist only for this value
            if value_at(without, path[:length]) != [] or self.format != "toml":
                break
            without = with_value(without, path[:length], MISSING)
            accepted.append(without)
        document = self._edited(self._removal(steps), None, accepted)
        if created > 1 and len(path) > 1 and document.get(path[:-1]) in ({}, []):
            return document.remove(path[:-1], created - 1)
        return document

    def says(self, values: Any) -> bool:  # noqa: ANN401 - as above
        """Tell whether the document has exactly these values; an empty one equals empty braces."""
        return same(_said(self.values), _said(values))

    # -- finding -------------------------------------------------------------------------------------------------------

    def _reach(self, path: Path) -> tuple[list[PathStep], Node | None, tuple[str | int, ...]]:
        """Return the steps to the last existing node on a path, that node, and the missing names."""
        steps: list[PathStep] = []
        node, value = self._root, self.values
        for length, name in enumerate(path):
            if node is None:
                return steps, None, tuple(path)
            if value is None and self._may_be_filled(steps):
                return steps, node, tuple(path[length:])
            index = self._index(path[:length], node, value, name)
            if index is None:
                return steps, node, tuple(path[length:])
            value = value_at(value, [name])
            steps.append(PathStep(node, index))
            node = node.members[index].node
        return steps, node, ()

    def _index(self, path: Path, node: Node, value: Any, name: str | int) -> int | None:  # noqa: ANN401 - any
        if isinstance(name, int):
            if node.kind != "sequence":
                raise self._wrong_kind(path, node, "sequence")
            return name if name < len(node.members) else None
        if node.kind != "mapping" or not isinstance(value, Names):
            raise self._wrong_kind(path, node, "mapping")
        places = [index for index, member in enumerate(node.members) if member.name == name]
        if len(places) > 1:
            line = line_of(self.body, node.members[places[1]].start)
            raise invalid(self._source, line, f"`{as_text(name)}` appears twice")
        return places[0] if places else None

    def _may_be_filled(self, steps: list[PathStep]) -> bool:
        """Tell whether null means an empty mapping or list, as after a key in YAML."""
        return self.format == "yaml" and bool(steps) and steps[-1].holder.form == "block"

    def _wrong_kind(self, path: Path, node: Node, kind: Any) -> ConfigError:  # noqa: ANN401 - a Kind
        what = f"`{'.'.join(map(as_text, path))}`" if path else "the file"
        return invalid(self._source, line_of(self.body, node.start), f"{what} must be {has_kind(kind)}")

    # -- changing ------------------------------------------------------------------------------------------------------

    def _add(
        self,
        steps: list[PathStep],
        node: Node | None,
        path: tuple[str | int, ...],
        rest: tuple[str | int, ...],
        value: Any,  # noqa: ANN401 - JSON
        kind: str,
        item: Any = None,  # noqa: ANN401 - JSON
    ) -> Document:
        """Return the document with a new value, creating what is missing on the path."""
        if not rest or any(isinstance(name, int) for name in rest):
            raise ValueError(f"there is no list for {path!r}")
        created = len(rest) + (node is None)
        edit = Edit(path, deepcopy(value if kind == "set" else item), kind, created, None, ())
        nested = value
        for name in reversed(rest[1:]):
            nested = {name: nested}
        above = path[: len(path) - len(rest)]
        splices = self._insertion(steps, node, above, str(rest[0]), nested)
        base = Names() if self.values is MISSING else self.values
        return self._edited(splices, edit, [with_value(base, path, from_plain(value))])

    def _insertion(
        self,
        steps: list[PathStep],
        node: Node | None,
        path: Path,
        name: str | None,
        value: Any,  # noqa: ANN401 - JSON
    ) -> list[Splice]:
        if node is None:
            return self._start(str(name), value)
        if self.format == "toml" and node.form == "sections":
            if name is None and not isinstance(value, dict):
                raise not_editable(self._source)  # an array of tables can only hold tables
            return sections.insert(self._layout, steps, node, path, name, value)
        if self.format == "yaml":
            return block.insert(self._layout, steps, node, name, value)
        return brackets.insert(self._layout, node, name, value)

    def _start(self, name: str, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
        """Return the change that puts the first value into a file that says nothing."""
        if self.format == "yaml":
            return block.start(self._layout, name, value)
        end = self._layout.last_text(0, len(self.body))
        text = render({name: value}, self._layout.style, "")
        if end:  # comments
            return [Splice(end, "", f"{self._layout.newline}{text}")]
        return [Splice(0, "", text if self.body else f"{text}{self._layout.newline}")]

    def _replacement(self, steps: list[PathStep], node: Node, path: tuple[str | int, ...], value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
        if node.form == "sections":
            return [self._difference(self._rewritten(path, value))]
        if self.format == "yaml":
            return block.replace(self._layout, steps, node, value)
        return brackets.replace(self._layout, steps[-1] if steps else None, node, value)

    def _rewritten(self, path: tuple[str | int, ...], value: Any) -> Document:  # noqa: ANN401 - JSON
        """Return the document with a TOML table, or an array of tables, replaced by another value."""
        current = self.get(path)
        if not isinstance(current, dict) or not isinstance(value, dict):
            return self.remove(path).set(path, value)
        document = self
        for name in current.keys() - value.keys():
            document = document.remove([*path, name])
        for name, inner in value.items():
            document = document.set([*path, name], inner)
        return document if value else document.set(path, value)  # a table may exist only for its values

    def _removal(self, steps: list[PathStep]) -> list[Splice]:
        holder, index = steps[-1]
        if holder.form == "sections":
            return sections.remove(self._layout, holder.members[index].node)
        if self.format == "yaml":
            return block.remove(self._layout, steps[:-1], holder, index)
        return brackets.remove(self._layout, holder, index)

    def _edited(self, splices: list[Splice], edit: Edit | None, accepted: list[Any]) -> Document:
        """Return the document after a change, provided that its values are as expected."""
        edits = self.edits if edit is None else (*self.edits, edit._replace(splices=tuple(splices)))
        try:
            document = self.with_body(apply_splices(self.body, splices), edits)
        except ConfigError:
            raise not_editable(self._source) from None
        if not any(document.says(values) for values in accepted):
            raise not_editable(self._source)
        return document

    def with_body(self, body: bytes, edits: tuple[Edit, ...] = ()) -> Document:
        """Return the document with another text."""
        return Document(self._bom + body, self.format, self._source, edits)

    def _difference(self, other: Document) -> Splice:
        """Return the difference to another document as a single change."""
        old, new = self.body.decode(), other.body.decode()
        limit = min(len(old), len(new))
        start = next((at for at in range(limit) if old[at] != new[at]), limit)
        tail = next((n for n in range(limit - start) if old[-1 - n] != new[-1 - n]), limit - start)
        return Splice(len(old[:start].encode()), old[start : len(old) - tail], new[start : len(new) - tail])


def _said(values: Any) -> Any:  # noqa: ANN401 - as above
    return Names() if values is MISSING else values


def _is_list(value: Any) -> bool:  # noqa: ANN401 - as above
    return isinstance(value, list) and not isinstance(value, Names)
