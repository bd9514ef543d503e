"""Where the log of a received table is kept, whatever its provider calls it."""

from pathlib import Path
from urllib.parse import quote

import pytest

from deltaweb.storage.received.profile import SharedName, location_of
from deltaweb.storage.received.store import ReceivedTableStore
from tests.support.stores.sharing_provider import HERE, Provider
from tests.unit.deltaweb.storage.received.test_mirror import shares

LONG = "ü" * 255


@pytest.mark.parametrize("letters", [LONG, "€" * 255, "\N{GRINNING FACE}" * 255])
def test_a_name_may_be_longer_than_that_of_a_folder(
    provider: Provider, tmp_path: Path, letters: str
) -> None:
    names = SharedName(letters, letters, letters)
    other = SharedName(letters, letters, f"{letters[:-1]}x")
    for table in (names, other):
        shares(provider, 3, table=table)

    logs = [
        ReceivedTableStore(
            location_of("acme", table),
            {
                **provider.profile.fields(),
                "allowed_hosts": HERE,
                "mirror": str(tmp_path),
            },
        ).list_names_from("")
        for table in (names, other)
    ]

    assert all(logs)
    assert len(list(tmp_path.glob("*/*/*/_delta_log"))) == 2


def test_a_short_name_is_that_of_the_folder(provider: Provider, tmp_path: Path) -> None:
    table = SharedName("s", "a b", "+" * 80)
    shares(provider, 3, table=table)

    store = ReceivedTableStore(
        location_of("acme", table),
        {**provider.profile.fields(), "allowed_hosts": HERE, "mirror": str(tmp_path)},
    )

    assert store.list_names_from("")
    assert (tmp_path / "s" / "a%20b" / quote("+" * 80) / "_delta_log").is_dir()
