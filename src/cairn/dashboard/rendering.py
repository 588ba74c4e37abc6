"""Templates: every value is shown as text, with invisible and misleading characters made visible."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from cairn.source.text import pluralize

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
_DIGEST_BYTES = 8
# Invisible characters and those that affect the text around them: controls except line breaks and tabs, direction
# marks, characters without width or shape, tag characters, lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNSEEN_IN_NAMES = re.compile(f"[\t\n]|{_UNSEEN.pattern}")  # in file names, which are shown on one line
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_THOUSAND, _MILLION = 1_000, 1_000_000


class _Templates(Environment):
    """Templates that look up fields of JSON objects directly in dictionaries."""

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - of Jinja
        """Return a field of a dictionary; for anything else, use Jinja's lookup."""
        return obj[attribute] if type(obj) is dict and attribute in obj else super().getattr(obj, attribute)


class Pages:
    """The templates of all pages, and the URLs of static files.

    Attributes:
        static: the files, by URL.
        threads: an executor with one thread, to render pages.
    """

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(1, thread_name_prefix="cairn-page")
        self.static = {f"{_digest(file)}/{file.name}": file for file in sorted(STATIC.iterdir()) if file.is_file()}
        addresses = {address.partition("/")[2]: f"/static/{address}" for address in self.static}
        self._environment = _environment_of(tuple(addresses.items()))

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """Return a page."""
        return self._environment.get_template(template).render(values)

    def compile(self) -> None:
        """Compile all templates, so that no page waits for it."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def parts(self, template: str, values: Mapping[str, Any]) -> Iterator[str]:
        """Return a page in small parts, each rendered on demand."""
        return self._environment.get_template(template).generate(values)


@cache
def _environment_of(addresses: tuple[tuple[str, str], ...]) -> Environment:
    """Return the template environment; templates are compiled once per process, whatever the number of daemons.

    Args:
        addresses: URLs of static files, by name.
    """
    environment = _Templates(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_show,
    )
    environment.filters.update(
        ago=ago,
        day=day,
        since=since,
        clock=clock,
        number=number,
        short=short,
        visible=visible,
        as_name=as_name,
        exact=exact,
        spelled=spelled,
        is_all_seen=is_all_seen,
        counted=pluralize,
        tojson=_json,
    )
    environment.globals.update(static=dict(addresses).__getitem__)
    return environment


def _show(value: object) -> object:
    """Return a value as shown on pages; our own markup stays, and Jinja escapes the rest."""
    if not isinstance(value, str) or isinstance(value, Markup) or (value.isascii() and value.isprintable()):
        return value
    return visible(value)


def visible(text: str, unseen: re.Pattern[str] = _UNSEEN) -> Markup:
    """Return a text as markup with everything made visible."""
    if not unseen.search(text):
        return escape(text)
    parts: list[Markup] = []
    place = 0
    for match in unseen.finditer(text):
        parts.append(escape(text[place : match.start()]))
        parts.append(Markup('<span class="unseen">U+{:04X}</span>').format(ord(match[0])))
        place = match.end()
    parts.append(escape(text[place:]))
    return Markup("").join(parts)


def as_name(text: str) -> Markup:
    """Return a file name as markup with everything made visible, including tabs and line breaks."""
    return visible(text, _UNSEEN_IN_NAMES)


def exact(value: object) -> Markup:
    """Return a value unchanged, for attributes and form fields, which have no markup and are sent back."""
    return escape(str(value).encode("utf-8", "replace").decode())


def spelled(value: object) -> Markup:
    """Return a value with everything made visible, for places without markup: titles, labels, pictures."""
    unseen = _UNSEEN if isinstance(value, Markup) else _UNSEEN_IN_NAMES
    return Markup(unseen.sub(lambda match: f"U+{ord(match[0]):04X}", escape(value)))


def is_all_seen(text: str) -> bool:
    """Tell whether a text has no invisible or misleading characters."""
    return not _UNSEEN.search(text)


def ago(moment: str) -> str:
    """Return how long ago a moment was, such as `3 h`; empty for none."""
    if not moment:
        return ""
    seconds = (datetime.now(UTC) - _when(moment)).total_seconds()
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def since(seconds: float) -> str:
    """Return how long ago a time was, given in seconds since the epoch; empty for none."""
    return ago(datetime.fromtimestamp(seconds, UTC).isoformat()) if seconds else ""


def day(moment: str) -> str:
    """Return the day of a moment, such as `2026-01-31`."""
    return moment[:10]


def clock(moment: str) -> str:
    """Return the time of day of a moment in UTC, such as `13:05:09`."""
    return moment[11:19]


def number(value: float) -> str:
    """Return a number with thousands separators."""
    return f"{value:,.0f}"


def short(value: float) -> str:
    """Return a number in at most five characters, such as `12.3k`."""
    size = abs(value)
    if size >= _MILLION:
        return f"{value / _MILLION:.1f}M"
    return f"{value / _THOUSAND:.1f}k" if size >= _THOUSAND else f"{value:.0f}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _when(moment: str) -> datetime:
    found = datetime.fromisoformat(moment)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _digest(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=_DIGEST_BYTES).hexdigest()
