"""Capabilities at a node: only what was signed here, for this token and this generation, and not for long."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.errors import AccessError, BusyError
from cairn.team.capabilities import KEY_SECONDS, LONGEST_SECONDS, Signer

ADA, BOB = b"a" * 32, b"b" * 32
SHOP, OTHER = b"s" * 32, b"o" * 32


@pytest.fixture
def now() -> list[float]:
    return [1_000.0]


@pytest.fixture
def signer(now: list[float]) -> Signer:
    return Signer(lambda: now[0])


def test_it_lets_its_holder_read_its_generation_until_it_ends(signer: Signer, now: list[float]) -> None:
    capability = signer.issue(ADA, 7, 3, SHOP)
    signer.check(capability, ADA, 7, 3, SHOP)
    now[0] += LONGEST_SECONDS - 1
    signer.check(capability, ADA, 7, 3, SHOP)

    now[0] += 1

    assert signer.is_over(capability)
    with pytest.raises(BusyError):
        signer.check(capability, ADA, 7, 3, SHOP)


@pytest.mark.parametrize("asked", [(BOB, 7, 3, SHOP), (ADA, 8, 3, SHOP), (ADA, 7, 4, SHOP), (ADA, 7, 3, OTHER)])
def test_it_is_good_for_no_other_token_branch_or_generation(
    signer: Signer, asked: tuple[bytes, int, int, bytes]
) -> None:
    with pytest.raises(AccessError):
        signer.check(signer.issue(ADA, 7, 3, SHOP), *asked)


@pytest.mark.parametrize(
    "changed",
    [
        {"branch_id": 8},
        {"generation": 4},
        {"digest": OTHER},
        {"holder": BOB},
        {"expires_at": 9e9},
        {"key": 2},
        {"signature": b""},
    ],
    ids=str,
)
def test_whatever_is_changed_in_it_makes_it_void(signer: Signer, changed: dict[str, Any]) -> None:
    forged = signer.issue(ADA, 7, 3, SHOP)._replace(**changed)

    with pytest.raises(AccessError):
        signer.check(forged, forged.holder, forged.branch_id, forged.generation, forged.digest)


def test_one_of_another_node_is_void(signer: Signer) -> None:
    with pytest.raises(AccessError):
        signer.check(Signer(lambda: 1_000.0).issue(ADA, 7, 3, SHOP), ADA, 7, 3, SHOP)


def test_keys_change_and_what_the_last_one_signed_holds_until_its_end(signer: Signer, now: list[float]) -> None:
    signer.issue(ADA, 7, 3, SHOP)
    now[0] += KEY_SECONDS - 1
    last = signer.issue(ADA, 7, 3, SHOP)
    now[0] += 1
    new = signer.issue(ADA, 7, 3, SHOP)
    assert (last.key, new.key) == (1, 2)
    signer.check(last, ADA, 7, 3, SHOP)

    now[0] += KEY_SECONDS
    signer.issue(ADA, 7, 3, SHOP)

    with pytest.raises(AccessError):
        signer.check(last, ADA, 7, 3, SHOP)
