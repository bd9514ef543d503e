"""A table that is shared cannot be removed."""

from typing import Any

import pytest

from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.additions import shares_in_words
from apps.tables.catalogue.registration import remove_table
from apps.tables.errors import TableInUseError
from apps.tables.extension import guards
from apps.tables.models import Table
from tests.support.pages.factories import NOW, new_share, new_shared_table, new_table

pytestmark = pytest.mark.django_db
BY: dict[str, Any] = {"stamp": Stamp(COMMAND_LINE, NOW)}


def test_the_shares_are_named_each_once() -> None:
    table = new_table()
    for share, names in (("sales", ["s.a", "s.b"]), ("More", ["s.a"])):
        made = new_share(share)
        for name in names:
            new_shared_table(made, name, table=table)

    with pytest.raises(TableInUseError) as caught:
        remove_table(table, **BY)

    assert "used by the share More, the share sales." in caught.value.message
    assert Table.objects.exists()


def test_once_it_is_taken_out_it_can_go() -> None:
    shared = new_shared_table()
    shared.delete()

    remove_table(shared.table, **BY)

    assert not Table.objects.exists()


def test_a_table_that_is_shared_at_the_last_moment_stays() -> None:
    table = new_table()
    new_shared_table(new_share("sales"), "s.a", table=table)
    guards.guards.remove(shares_in_words)  # as if it had asked a moment too early
    try:
        with pytest.raises(TableInUseError):
            remove_table(table, **BY)
    finally:
        guards.guards.register(shares_in_words)

    assert Table.objects.exists()
