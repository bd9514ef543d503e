"""The keys of issuers: when they are asked for, and how long they are good."""

from datetime import UTC, datetime, timedelta

import pytest
from joserfc.jwk import KeySet

from deltaweb.delta.errors import LocationNotFoundError
from deltaweb.sharing.oauth import issuer_keys as issuers
from deltaweb.sharing.oauth.errors import JWTRefusedError
from deltaweb.sharing.oauth.issuer_keys import (
    FRESH_FOR,
    MAX_AGE,
    MIN_AGE,
    RETRY_AFTER,
    IssuerKeys,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
MOMENT = timedelta(seconds=1)
ADDRESS = "https://id.example.org"


class Issuers:
    """Issuers that count how often they are asked, and may be down."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = False
        self.keys = IssuerKeys(self._answer)

    def _answer(self, issuer: str) -> KeySet:
        self.asked.append(issuer)
        if self.is_down:
            raise LocationNotFoundError(location=issuer)
        return KeySet([])


@pytest.fixture
def others() -> Issuers:
    return Issuers()


def test_keys_are_asked_for_once_while_they_are_fresh(others: Issuers) -> None:
    first = others.keys.get(ADDRESS, now=NOW)

    assert others.keys.get(ADDRESS, now=NOW + FRESH_FOR - MOMENT) is first
    assert others.asked == [ADDRESS]
    assert others.keys.get(ADDRESS, now=NOW + FRESH_FOR) is not first


def test_an_unknown_key_asks_again_at_most_once_a_minute(others: Issuers) -> None:
    others.keys.get(ADDRESS, now=NOW)

    for _ in range(9):
        others.keys.get(ADDRESS, now=NOW + MIN_AGE - MOMENT, renewed=True)
    assert len(others.asked) == 1

    for _ in range(9):
        others.keys.get(ADDRESS, now=NOW + MIN_AGE, renewed=True)
    assert len(others.asked) == 2


def test_keys_that_cannot_be_renewed_are_good_for_a_day(others: Issuers) -> None:
    first = others.keys.get(ADDRESS, now=NOW)
    others.is_down = True

    assert others.keys.get(ADDRESS, now=NOW + MAX_AGE) is first
    with pytest.raises(JWTRefusedError, match="the keys of its issuer"):
        others.keys.get(ADDRESS, now=NOW + MAX_AGE + RETRY_AFTER)


def test_an_issuer_that_is_down_is_not_asked_by_every_token(others: Issuers) -> None:
    others.is_down = True

    for _ in range(9):
        with pytest.raises(JWTRefusedError):
            others.keys.get(ADDRESS, now=NOW)
    assert len(others.asked) == 1

    others.is_down = False
    assert others.keys.get(ADDRESS, now=NOW + RETRY_AFTER) is not None


def test_no_more_issuers_are_kept_than_fit(
    others: Issuers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuers, "_MAX_ISSUERS", 2)

    for number in (1, 2, 3, 3, 1):
        others.keys.get(f"{ADDRESS}/{number}", now=NOW)

    assert [address[-1] for address in others.asked] == ["1", "2", "3", "1"]
