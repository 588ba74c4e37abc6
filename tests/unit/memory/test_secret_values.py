import pytest

from cairn.memory.secret_values import is_placeholder, looks_random


@pytest.mark.parametrize(
    "value", ["a8f3k20dk3lfkd0a", "3f2a9c81d04e5b6a", "Zx8KqLw2NvTb", "cfwamkcmfuvprhstwjhdaonfxikugwwz"]
)
def test_what_a_machine_made_looks_random(value: str) -> None:
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "get_password_hash",
        "AuthenticationToken",
        "my-service-name-2",
        "2026-01-05",
        "abcdefghijklmnop",
        "token_1",
        "short1",
        "users/list/all",
    ],
)
def test_names_dates_and_sequences_do_not_look_random(value: str) -> None:
    assert not looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "${TOKEN}",
        "<password>",
        "your-api-key",
        "XXXX-XXXX",
        "changeme",
        "...",
        "********",
        "{{ token }}",
        "$(cat key)",
        "%s",
    ],
)
def test_what_stands_for_a_secret_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["hunter2", "P@ssw0rd!", "letmein", "correct horse battery staple"])
def test_what_people_choose_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)
