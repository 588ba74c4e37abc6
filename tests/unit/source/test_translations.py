"""Which files say in another language what one in English says as well."""

from __future__ import annotations

import pytest

from cairn.source.translations import translated_files


def translations(*paths: str) -> list[str]:
    return [paths[number] for number in translated_files(paths)]


@pytest.mark.parametrize(
    ("english", "others"),
    [
        ("lang/en.json", ["lang/de.json", "lang/pt_BR.json", "lang/zh-Hans.json"]),
        ("resources/lang/en-US/auth.php", ["resources/lang/am-ET/auth.php", "resources/lang/en-GB/auth.php"]),
        ("config/locales/devise.en.yml", ["config/locales/devise.fr.yml"]),
        ("docs/en/docs/index.md", ["docs/de/docs/index.md", "docs/zh-hant/docs/index.md"]),
        (
            "App/en.lproj/Localizable.strings",
            ["App/de.lproj/Localizable.strings", "App/Base.lproj/Localizable.strings"],
        ),
        ("App/Base.lproj/Main.storyboard", ["App/de.lproj/Main.storyboard"]),
        ("src/locales/en.ts", ["src/locales/be.ts"]),
        ("res/values/strings.xml", ["res/values-de/strings.xml", "res/values-pt-rBR/strings.xml"]),
        ("i18n/messages.properties", ["i18n/messages_de.properties", "i18n/messages_fr_CA.properties"]),
        ("README.md", ["README_CN.md"]),
        ("README.md", ["README.zh-CN.md"]),
        ("docs/guide.md", ["docs/zh/guide.md"]),
        ("app.py", ["locale/de/LC_MESSAGES/django.po", "locale/fr/LC_MESSAGES/django.po"]),
    ],
)
def test_what_stands_beside_the_same_in_english_is_a_translation(english: str, others: list[str]) -> None:
    assert translations(english, *others) == others
    assert translations(*others, english) == others


@pytest.mark.parametrize(
    "paths",
    [
        ("lang/de.json", "lang/fr.json"),  # nothing is in English
        ("lang/en.json", "lang/xx.json", "lang/index.ts"),
        ("docs/en/index.md", "docs/de/other.md"),
        ("src/file.c", "src/file_io.c", "src/file_id.c"),
        ("src/render.c", "src/render_gl.c"),
        ("src/stop.py", "src/stop_it.py", "src/stop_de.py"),  # one language alone may be anything
        ("src/index.ts", "src/is/index.ts", "src/de/index.ts"),
        ("src/cs/api/cart.cs", "src/api/cart.cs", "src/pl/api/cart.pl"),
        ("README.md", "docs/README.md"),
    ],
)
def test_other_paths_are_no_translations(paths: tuple[str, ...]) -> None:
    assert translations(*paths) == []


def test_beside_many_languages_what_is_called_like_one_is_a_language_too() -> None:
    known = [f"config/locales/{code}.yml" for code in ("de", "fr", "it", "ja")]
    further = ["config/locales/aln.yml", "config/locales/be-Tarask.yml", "config/locales/map_bms.yml"]
    assert translations("config/locales/en.yml", *known, *further) == [*known, *further]
    others = ["config/locales/plural.yml", "config/locales/api/run.yml", "config/map.yml", "config/locales/map.rb"]
    assert translations("config/locales/en.yml", *known, *others) == known


def test_beside_a_few_languages_what_is_called_like_one_is_none() -> None:
    assert translations("web/en.js", "web/de.js", "web/map.js") == ["web/de.js"]


def test_odd_paths_are_no_translations() -> None:
    assert translations("", "/", "..", "en", "lang/en", "lang/de", "a\nen/b", "a\nde/b\udcff.md", "de.json") == []


def test_paths_of_nothing_but_languages_are_no_translations() -> None:
    assert translations(*(f"{'de/en/' * 600}{number}.md" for number in range(200))) == []


def test_several_kinds_of_english_have_one_source() -> None:
    paths = ("lang/en-AU.json", "lang/en-GB.json", "lang/en-US.json")
    assert translations(*paths) == ["lang/en-AU.json", "lang/en-GB.json"]
    assert translations("lang/en-AU.json", "lang/en-NZ.json", "lang/de.json") == ["lang/en-NZ.json", "lang/de.json"]
