"""Of a component of Vue or Svelte, the parser sees the code where it stands, and nothing of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.source.languages import BY_NAME
from cairn.source.languages.template_code import code_of_svelte, code_of_vue
from cairn.source.references import KINDS, read_facts

_PIECES = (
    "<script>", "</script>", "<style>", "</style>", "<!--", "-->", "{{", "}}", "{", "}", '"', "'", "`", "<Row", "<a-b",
    ' :x="', ' @go="', " v-for='", "{#snippet row(a)}", "{/snippet}", "{#each a as b}", "{/each}",
    "\n", "é", " f(x) ", ">",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES)).map("".join))
def test_every_byte_and_line_stays_where_it_was(text: str) -> None:
    data = text.encode()
    for code in (code_of_vue(data), code_of_svelte(data)):
        assert len(code) == len(data)
        assert [place for place, byte in enumerate(code) if byte == 10] == [
            place for place, byte in enumerate(data) if byte == 10
        ]


def said(text: str, language: str) -> list[str]:
    """Return what a file refers to, as `kind expression`, and what it imports."""
    _, facts = read_facts(text.encode(), BY_NAME[language])
    references = zip(facts.kinds, facts.expressions, strict=True)
    own = [f"{KINDS[kind]} {facts.texts[expression]}" for kind, expression in references]
    return own + [f"import {each.module}" for each in facts.imports]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a @click="save()">{{ label(a) }}</a>', ["call save", "call label"]),
        ('<a :x=\'one()\' v-if="two(1)" #y="three()" z="four()"/>', ["call one", "call two", "call three"]),
        ("<!-- {{ gone() }} -->{{ here() }} don't {{ there() }}", ["call here", "call there"]),
        ('<user-card/><p title="Big">', ["use UserCard", "import <UserCard>"]),
        ('<a @click="open = true; save()" v-for="b of list()">', ["call save", "call list"]),
        ("<style>a { b: '{{ no() }}' }</style>{{ yes() }}", ["call yes"]),
        ("{{ unclosed(", []),
    ],
)
def test_a_template_of_vue_refers_to_what_its_expressions_say(markup: str, expected: list[str]) -> None:
    assert said(f"<template>{markup}</template>", "vue") == expected


def test_a_template_of_vue_uses_what_the_script_defines_and_imports() -> None:
    text = '<Row @click="save" :go="store.run"/><script>import Row from "./r"\nfunction save() {}\n</script>'
    assert said(text, "vue") == ["use Row", "use save", "use store.run", "import ./r"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a on:click={() => save()} title="{label(a)}">{say("}")}</a>', ["call save", "call label", "call say"]),
        ("{#if big(a)}{:else if small(b)}{/if}{@html raw()}", ["call big", "call small", "call raw"]),
        ("{#each rows() as row, at (row.id)}{/each}", ["call rows"]),
        ("{#await load() then value}{/await}", ["call load"]),
        ("{#snippet one(a)}{two(a)}{/snippet}{@render one(1)}", ["call two", "call one"]),
        ("<Row x={y()}/>", ["use Row", "call y", "import <Row>"]),
        ("{unclosed(", []),
    ],
)
def test_the_markup_of_svelte_refers_to_what_its_expressions_say(markup: str, expected: list[str]) -> None:
    assert said(markup, "svelte") == expected


def test_scripts_of_other_languages_are_not_read() -> None:
    assert said('<script lang="coffee">a = -> save()</script><script type="text/babel">go()</script>', "vue") == [
        "call go"
    ]


def test_reading_takes_no_longer_where_nothing_is_closed() -> None:
    for piece in (b"<script>", b"{{", b"{#snippet a(", b'<a :x="', b"<!--", b"{`", b"<script a='"):
        for read in (code_of_vue, code_of_svelte):
            assert len(read(piece * 20_000)) == 20_000 * len(piece)
