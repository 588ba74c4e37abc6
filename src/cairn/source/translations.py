"""Which files say in another language what others of the project say in English, judged by their paths together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

# The codes of ISO 639 that projects use, but none that is a usual name of a folder, such as `api` or `bin`.
_CODES = frozenset(
    """
    af ak am ar as ast az be bem bg bn bo br bs ca ceb cs cy da de dsb ee el en eo es et eu fa ff fi fil fo fr fur fy ga
    gd gl gsw gu ha haw he hi hr hsb hu hy ia id ig is it iw ja jv ka kab kk km kn ko ku kw ky lb lg ln lo lt lv mai mg
    mi mk ml mn mr ms mt my nb nds ne nl nn no nso oc om or pa pl ps pt qu rm ro ru rw sa sc sd si sk sl sm sn so sq sr
    st su sv sw ta te tg th ti tk tl tn tr tt tzm ug uk ur uz ve vi wo xh yi yo yue zh zu
    """.split()  # noqa: SIM905 - a list of words reads best as text
)
# Those that mean nothing else behind a name, as in `messages_de.properties`: not `render_gl.c` or `find_by_id.sql`.
_TELLING = frozenset(
    "ar bg ca cs da de el es et fa fi fr he hr hu ja ko lt lv nl pl pt ro ru sk sq sv th tr uk zh".split()  # noqa: SIM905 - as above
)
_LOCALE = re.compile(
    r"(?<![^/._-])(Base|[a-z]{2,3}(?:[-_](?:Hans|Hant|Latn|Cyrl|Arab|hans|hant))?"
    r"(?:[-_]r?(?:[A-Z]{2}|[a-z]{2}|419|001))?|CN|JP|KR|TW)(?=[/.])"
)
_REGIONS = {"CN": "zh", "JP": "ja", "KR": "ko", "TW": "zh"}  # `README_CN.md`
_MAY_BE_LOCALE = rb"[\0/._-](?:%s)(?:[-_][0-9A-Za-z_-]{2,8})?[/.]" % b"|".join(
    sorted(code.encode() for code in (*_CODES, "Base", *_REGIONS))
)
_PROSE = re.compile(r"\.(md|mdx|rst|txt|adoc|html?|markdown)$")
# In the order in which they are taken for the one that the others translate.
_ENGLISH = ("en", "en-us", "base", "en-gb")
_LEAST_TOGETHER = 2  # languages of what has a version without a language
_MOST_LOCALES = 8  # that are looked at in a path


class _Variant(NamedTuple):
    """A file as one of a text in several languages: what all of them have in common, and its language."""

    common: str
    language: str
    is_bare: bool  # whether `common` is the path of a file without a language


def translated_files(paths: Sequence[str]) -> list[int]:
    """Return the numbers of the files that say in another language what one in English says as well.

    English is the one whose path has `en` where that of others has `de`, or nothing. The variants of a text in further
    kinds of English are translations, too. A file without one in English is none, but for those of gettext: what they
    translate stands in the code.
    """
    found: dict[str, dict[str, int]] = {}
    bare: dict[str, dict[str, int]] = {}
    for number in _candidates(paths):
        for variant in _variants(paths[number]):
            (bare if variant.is_bare else found).setdefault(variant.common, {}).setdefault(variant.language, number)
    numbers = {path: number for number, path in enumerate(paths)} if bare else {}
    translations = {number for number, path in enumerate(paths) if path.endswith(".po")}
    for variants in found.values():
        source = next((language for language in _english(variants) if language in variants), None)
        if source is not None and len(variants) > 1:
            translations.update(number for language, number in variants.items() if language != source)
    for common, variants in bare.items():
        if common in numbers and (len(variants) >= _LEAST_TOGETHER or _PROSE.search(common)):
            translations.update(number for language, number in variants.items() if not language.startswith("en"))
    return sorted(translations)


def _candidates(paths: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the paths that may have a language: most have none, and are told apart all at once."""
    import re2  # noqa: PLC0415 - start-up time: most runs know the roles of all files

    text = "\0".join(["", *paths]).encode("utf-8", "surrogatepass")
    pattern, number, place = re2.compile(_MAY_BE_LOCALE), -1, 0
    while place >= 0 and (match := pattern.search(text, place)) is not None:
        number += text.count(b"\0", place, match.end())
        yield number
        place = text.find(b"\0", match.end())  # the next path


def _english(variants: dict[str, int]) -> list[str]:
    """Return the kinds of English among languages, the one that is translated first."""
    return [*_ENGLISH, *sorted(language for language in variants if language.startswith("en-"))]


def _variants(path: str) -> Iterator[_Variant]:
    """Yield a path without its language, for each part of it that may be one."""
    for match in islice(_LOCALE.finditer(path), _MOST_LOCALES):
        language = _REGIONS.get(match[1], match[1]).replace("_", "-").lower()
        if language.partition("-")[0] not in _CODES and language != "base":
            continue
        before, after = path[: match.start()], path[match.end() :]
        yield _Variant(f"{before}{{}}{after}", language, False)
        is_told = "-" in language or language in _TELLING
        if is_told and before[-1:] in ("_", "-", "."):
            yield _Variant(before[:-1] + after, language, True)
        elif is_told and after[:1] == "/" and _PROSE.search(after):
            yield _Variant(before + after[1:], language, True)
