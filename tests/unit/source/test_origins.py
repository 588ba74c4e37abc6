from __future__ import annotations

import pytest

from cairn.source.origins import repository_identity


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.org/acme/shop.git",
        "https://git.example.org/acme/shop",
        "https://git.example.org/acme/shop/",
        "https://ada:secret@git.example.org/acme/shop.git",
        "https://git.example.org:8443/acme/shop.git",
        "https://GIT.example.org./Acme/Shop.git",
        "http://git.example.org//acme/shop.git",
        "ssh://git@git.example.org/acme/shop.git",
        "ssh://git@git.example.org:7999/acme/shop.git",
        "ssh://git.example.org/~/acme/shop.git",
        "git+ssh://git@git.example.org/acme/shop",
        "git://git.example.org/acme/shop.git",
        "git@git.example.org:acme/shop.git",
        "git.example.org:acme/shop",
        "git@git.example.org:/acme/shop.git",
        "  git@git.example.org:acme/shop.git\n",
        "https://git.example.org/acme/sho%70.git",
    ],
)
def test_a_repository_is_the_same_however_its_address_is_written(address: str) -> None:
    assert repository_identity(address) == "git.example.org/acme/shop"


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("ssh://git@ssh.github.com:443/acme/shop.git", "https://github.com/acme/shop"),
        ("git@ssh.dev.azure.com:v3/acme/tools/shop", "https://acme@dev.azure.com/acme/tools/_git/shop"),
        ("git@altssh.gitlab.com:acme/web/shop.git", "https://gitlab.com/acme/web/shop"),
    ],
)
def test_hosts_with_two_names_count_as_one(address: str, same: str) -> None:
    assert repository_identity(address) == repository_identity(same) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://git.example.org/acme/shop", "https://git.example.org/acme/shop2"),
        ("https://git.example.org/acme/shop", "https://git.example.com/acme/shop"),
        ("https://git.example.org/acme/shop", "https://git.example.org/x/acme/shop"),
    ],
)
def test_other_repositories_are_others(one: str, other: str) -> None:
    assert repository_identity(one) != repository_identity(other)


@pytest.mark.parametrize(
    "address",
    ["", "/srv/git/shop.git", "file:///srv/git/shop.git", "../shop", "C:/git/shop", "c:\\git\\shop", "shop", "https://",
     "https://git.example.org", "https://[::1", "ext::sh -c id", "git@git.example.org:"],
)  # fmt: skip
def test_a_folder_and_what_is_no_address_is_no_repository(address: str) -> None:
    assert repository_identity(address) == ""
