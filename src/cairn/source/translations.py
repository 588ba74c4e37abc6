"""Finds files that are translations of others in the project, judged by all paths together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

# ISO 639 codes that projects use, except for usual names of folders, such as `api` or `bin`.
_CODES = frozenset(
    """
    af ak am ar as ast az be bem bg bn bo br bs ca ceb cs cy da de dsb ee el en eo es et eu fa ff fi fil fo fr fur fy ga
    gd gl gsw gu ha haw he hi hr hsb hu hy ia id ig is it iw ja jv ka kab kk km kn ko ku kw ky lb lg ln lo lt lv mai mg
    mi mk ml mn mr ms mt my nb nds ne nl nn no nso oc om or pa pl ps pt qu rm ro ru rw sa sc sd si sk sl sm sn so sq sr
    st su sv sw ta te tg th ti tk tl tn tr tt tzm ug uk ur uz ve vi wo xh yi yo yue zh zu
    """.split()  # noqa: SIM905 - a list of words reads best as text
)
# Those that mean nothing else after a name, as in `messages_de.properties`: unlike `render_gl.c` or `find_by_id.sql`.
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
# In order of preference as the original of the others.
_ENGLISH = ("en", "en-us", "base", "en-gb")
_LEAST_TOGETHER = 2  # languages of texts that also have a version without a language
_LEAST_KNOWN = 5  # languages of the files in a folder, for others there to be languages, too, such as `aln.yml`
# Wherever one may stand in a name, with up to two subtags: the groups end where it may end.
_MAY_BE_LANGUAGE = re.compile(
    r"(?<![^/._-])(?=([a-z]{2,3}(?![A-Za-z\d]))(?:([-_][A-Za-z\d]{2,10})([-_][A-Za-z\d]{2,10})?)?)"
)
_MOST_LOCALES = 8  # parts of a path to look at


class _Variant(NamedTuple):
    """A file as one version of a text in several languages: what the paths have in common, and its language."""

    common: str
    language: str
    is_bare: bool  # whether `common` is the path of a file without a language


def translated_files(paths: Sequence[str]) -> list[int]:
    """Return the numbers of the files that are translations of one in English.

    The English version has `en` in its path where others have `de`, or it has nothing there. Further variants of
    English are translations too. Without an English version a file is not a translation, except with gettext, whose
    original is in the code.
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
    translations.update(_further(paths, {common: variants for common, variants in found.items() if "en" in variants}))
    for common, variants in bare.items():
        if common in numbers and (len(variants) >= _LEAST_TOGETHER or _PROSE.search(common)):
            translations.update(number for language, number in variants.items() if not language.startswith("en"))
    return sorted(translations)


def _further(paths: Sequence[str], found: Mapping[str, dict[str, int]]) -> Iterator[int]:
    """Yield the numbers of the files beside many translations that are called as one in a language without a code here.

    Args:
        paths: of all files.
        found: the languages of texts that have one in English, by what their paths have in common.
    """
    texts: set[tuple[str, str]] = set()  # what stands before and after the language
    sources: set[int] = set()
    for common, variants in found.items():
        before, _, after = common.partition("{}")
        if len(variants) >= _LEAST_KNOWN and "/" not in after:
            texts.add((before, after))
            sources.add(variants["en"])
    for number, path in enumerate(paths if texts else ()):
        languages = _MAY_BE_LANGUAGE.finditer(path, path.rfind("/") + 1)
        parts = (
            (path[: match.start()], path[end:]) for match in languages for end in map(match.end, (1, 2, 3)) if end > 0
        )
        if number not in sources and not texts.isdisjoint(parts):
            yield number


def _candidates(paths: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of paths that may contain a language; the others, which are most, are ruled out in one pass."""
    import re2  # noqa: PLC0415 - start-up time: most runs know the roles of all files

    text = "\0".join(["", *paths]).encode("utf-8", "surrogatepass")
    pattern, number, place = re2.compile(_MAY_BE_LOCALE), -1, 0
    while place >= 0 and (match := pattern.search(text, place)) is not None:
        number += text.count(b"\0", place, match.end())
        yield number
        place = text.find(b"\0", match.end())  # the next path


def _english(variants: dict[str, int]) -> list[str]:
    """Return the variants of English among languages, the original first."""
    return [*_ENGLISH, *sorted(language for language in variants if language.startswith("en-"))]


def _variants(path: str) -> Iterator[_Variant]:
    """Yield the path without its language, for each part that may be one."""
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
