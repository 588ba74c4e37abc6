"""The values of a YAML file, from PyYAML's events: aliases are not expanded, so a small file stays small."""

from __future__ import annotations

from typing import Any

from yaml import SafeLoader, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.nodes import ScalarNode

from cairn.documents.nodes import MAX_DEPTH, MISSING, Names, Reference, invalid, too_deep
from cairn.yaml_files import bounded_parser, yaml_error


def read_yaml(text: str, source: str) -> Any:  # noqa: ANN401 - whatever the file says
    """Return the values of a text; MISSING if it is empty.

    Raises:
        ConfigError: if it is not valid, or is more than one document.
    """
    try:
        return _Builder(text, source).document()
    except YAMLError as error:
        raise yaml_error(error, text, source) from None


class _Builder:
    """Builds values from events."""

    def __init__(self, text: str, source: str) -> None:
        self._events = bounded_parser()(text)
        self._source = source
        self._anchors: set[str] = set()
        self._loader = SafeLoader("")

    def document(self) -> Any:  # noqa: ANN401 - as above
        self._events.get_event()  # the stream begins
        if not self._events.check_event(DocumentStartEvent):
            return MISSING
        self._events.get_event()
        first: Any = self._events.peek_event()
        is_empty = isinstance(first, ScalarEvent) and first.start_mark.index == first.end_mark.index  # type: ignore[union-attr] # PyYAML gives every event its marks
        value = self._value(0)
        self._events.get_event()  # the document ends
        if self._events.check_event(DocumentStartEvent):
            line = self._events.peek_event().start_mark.line + 1
            raise invalid(self._source, line, "a second document, but only one is allowed")
        return MISSING if is_empty else value

    def _value(self, depth: int) -> Any:  # noqa: ANN401 - as above
        event: Any = self._events.get_event()
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise too_deep(self._source, line)
        if isinstance(event, AliasEvent):
            if event.anchor not in self._anchors:
                raise invalid(self._source, line, "an alias of nothing")
            return Reference(f"*{event.anchor}")
        if event.anchor is not None:
            self._anchors.add(event.anchor)
        value = self._content(event, depth)
        return value if event.tag is None else Reference(event.tag, value)

    def _content(self, event: Event, depth: int) -> Any:  # noqa: ANN401 - as above
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if isinstance(event, SequenceStartEvent):
            items = []
            while not self._events.check_event(SequenceEndEvent):
                items.append(self._value(depth + 1))
            self._events.get_event()
            return items
        assert isinstance(event, MappingStartEvent)
        pairs = Names()
        while not self._events.check_event(MappingEndEvent):
            name = self._value(depth + 1)
            pairs.append((name, self._value(depth + 1)))
        self._events.get_event()
        return pairs

    def _scalar(self, event: ScalarEvent) -> Any:  # noqa: ANN401 - as above
        if event.tag is not None:
            return event.value
        resolve: Any = self._loader.resolve
        tag = resolve(ScalarNode, event.value, event.implicit)
        try:
            return self._loader.construct_object(ScalarNode(tag, event.value))
        except (YAMLError, ValueError, OverflowError):  # an impossible date, or `=`
            return event.value
