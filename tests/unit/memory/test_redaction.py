import sys
from collections.abc import Callable
from functools import partial

import pytest
import re2
from hypothesis import example, given, settings
from hypothesis import strategies as st

import odd_secrets
import redaction as measured
from cairn.memory.redaction import _needs, redact
from cairn.memory.redaction_rules import RULES, SecretRule

_FRAGMENTS = st.sampled_from(
    (
        "password",
        "PASSWORD=",
        "token: ",
        "api_key",
        "secret is ",
        "=",
        ": ",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        "<private>",
        "</private>",
        "<private a='b'>",
        "://",
        "@",
        "hunter2",
        "Bearer ",
        "Authorization: ",
        "Cookie: a=",
        "-----BEGIN PRIVATE " + "KEY-----",
        "-----END PRIVATE " + "KEY-----",
        "a1B2c3D4e5F6g7H8i9J0",
        "gh" + "p_",
        "0123456789abcdef",
        "zq7xk2vw9pm4tr",
        "[redacted: token]",
        "[private]",
        "[redacted: ",
        "]",
        "curl -u ",
        "mysql -p",
        ";",
        ",",
        "&",
        "\ud800",
        "\u00e9",
        "\u5bc6\u7801",
        "\0",
        "\x1b[0m",
    )
)
_TEXTS = st.lists(_FRAGMENTS | st.text(st.characters(), max_size=4), max_size=30).map("".join)


@settings(max_examples=400)
@given(_TEXTS)
@example("password=zq7xk2vw9pm4trpassword=zq7xk2vw9pm4tr")
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)

    assert redact(once.text) == (once.text, {})


@given(_TEXTS)
def test_only_what_was_counted_is_replaced(text: str) -> None:
    result = redact(text)

    assert (result.text == text) == (not result.kinds or text in ("[private]",))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b\nc", "a [private]"),
        ("a <PRIVATE reason='x > y'>b</Private> c", "a [private] c"),
        ("<private\n  why='no'>\nb\n</private>\nc", "[private]\nc"),
        ("a</private> b <privateer> c <private/> d", "a</private> b <privateer> c <private/> d"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("\\u003cprivate\\u003ea\\u003c/private\\u003e b", "[private] b"),
    ],
)
def test_private_spans_are_replaced_whole(text: str, kept: str) -> None:
    assert redact(text).text == kept


def test_what_was_taken_out_is_counted_by_kind() -> None:
    result = redact("DB_PASSWORD=hunter2\npassword: 'tr0ub4dor'\n<private>x</private>\npostgres://app:k3strel9@db/app")

    assert result.kinds == {"password": 2, "private": 1, "url-password": 1}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password = 'hunter2'", "password = '[redacted: password]'"),
        ("postgres://app:hunter2@db/app", "postgres://app:[redacted: url-password]@db/app"),
        ("postgres://app:ab/3+x@db/app", "postgres://app:[redacted: url-password]@db/app"),
        ("http://localhost:8080/@vite/client1@2", "http://localhost:8080/@vite/client1@2"),
        ("curl -u bob:hunter2 https://x.example.com", "curl -u bob:[redacted: command-password] https://x.example.com"),
        ("curl --user 'bob:kestrel maple' https://x", "curl --user 'bob:[redacted: command-password]' https://x"),
        ('curl -u bob:"kestrel maple" -H "Accept: a"', 'curl -u bob:"[redacted: command-password]" -H "Accept: a"'),
        (
            "seed phrase: legal winner thank year wave sausage worth useful legal winner thank yellow",
            "seed phrase: [redacted: seed-phrase]",
        ),
        ("app:$2b$12$" + "aB3./" * 10 + "xyz:1", "app:[redacted: password-hash]:1"),
        ("bob:$apr1$r31....$HqJZimcKQFAMYayBlzkrA/", "bob:[redacted: password-hash]"),
        (
            "P\u00e4ssw\u00f6rter: \u201cpassword\u201d: \u201chunter2\u201d",
            "P\u00e4ssw\u00f6rter: \u201cpassword\u201d: \u201c[redacted: password]\u201d",
        ),
        ("\ud800 password='h\u00fcnter2\udfff'", "\ud800 password='[redacted: password]'"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, kept: str) -> None:
    assert redact(text).text == kept


def test_a_secret_that_stands_once_more_without_its_name_goes_too() -> None:
    value = "zq7xk2vw" + "9pm4trfa8d"

    assert value not in redact(f"api_token={value}\nrejected: {value}").text


def test_of_fake_secrets_at_least_99_in_100_are_taken_out() -> None:
    cases = measured.secrets()

    assert len({case.kind for case in cases}) >= 60
    assert len(measured.missed(cases)) <= len(cases) // 100


def test_of_secrets_in_odd_places_at_least_99_in_100_are_taken_out() -> None:
    assert len(measured.missed(odd_secrets.cases())) <= 1


def test_of_harmless_lines_at_most_one_in_200_is_touched() -> None:
    lines = measured.harmless()

    assert len(lines) == 2000
    assert len(measured.touched(lines)) <= 10


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_every_pattern_is_one_that_takes_linear_time(rule: SecretRule) -> None:
    assert re2.compile(rule.pattern.encode()).groups <= 1
    assert rule.needs == rule.needs.lower()


@given(
    st.lists(st.sampled_from([word for rule in RULES for word in rule.needs.split()]) | st.text("ab-. ", max_size=3))
)
@example([word for rule in RULES for word in rule.needs.split()])
def test_the_words_that_rules_need_are_found_wherever_they_stand(parts: list[str]) -> None:
    text = "".join(parts)
    words, rules_needing = _needs()
    found = {number for word in words.Match(text.encode()) or () for number in rules_needing[word]}
    assert found == {number for number, rule in enumerate(RULES) if any(word in text for word in rule.needs.split(" "))}


@pytest.mark.parametrize(
    "unit",
    [
        "password=",
        "password='",
        "token: a1 #",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n",
        "abcdefghijklmnop12\n",
        "<private ",
        "://a:",
        "Authorization: ",
        "api_key is zq7xk2vw9pm4tr ",
        "secret=zq7xk2vw9pm4tr;",
        "\\",
        "aws_key\n",
        "-----BEGIN PRIVATE KEY-----\n1: a-",
        "password: correct horse ",
    ],
)
def test_the_work_grows_with_the_length_and_no_faster(unit: str) -> None:
    short, long = (_calls(partial(redact, unit * size)) for size in (200, 800))

    assert long <= 5 * short + 2000


def _calls(function: Callable[[], object]) -> int:
    """Return how many functions were called, those in C included."""
    function()  # what is compiled once is not part of the work
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return counted


def test_a_chain_of_names_in_one_value_is_read_once() -> None:
    chain = "password=" * 20_000

    assert redact(chain + "\npassword='hunter2'").kinds == {"password": 1}


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("it is gh\u0440_" + "Q2W3e4R5t6Z7u8I9" * 2 + "o0P1 now", "it is [redacted: github-token] now"),
        ("the p\u0430ssword is hunter2", "the p\u0430ssword is [redacted: password]"),
        ("the password is \uff48\uff55\uff4e\uff54\uff45\uff52\uff12", "the password is [redacted: password]"),
        ("\u5bc6\u7801\u662f hunter2x", "\u5bc6\u7801\u662f [redacted: password]"),
        ("\u30d1\u30b9\u30ef\u30fc\u30c9\u306f hunter2x", "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f [redacted: password]"),
    ],
)
def test_letters_of_other_scripts_hide_no_secret(text: str, without: str) -> None:
    assert redact(text).text == without


@pytest.mark.parametrize(
    "text",
    [
        "\u0441\u0435\u0440\u0432\u0435\u0440 \u0440\u0430\u0431\u043e\u0442\u0430\u0435\u0442",
        "\u03bf\u03c1\u03b9\u03bf 2024",
    ],
)
def test_words_of_other_scripts_stay(text: str) -> None:
    assert redact(text).text == text
