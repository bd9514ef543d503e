"""The documented requests of Power BI's connector, compared with the table itself."""

import pytest

from tests.functional.sharing_clients.conftest import SHARE
from tests.functional.sharing_clients.rows import of_rows, of_table
from tests.support.peers.power_bi import PowerBI, RefusedError


def test_the_navigator_shows_every_table_of_the_share(profile, tables) -> None:
    shown = PowerBI(profile).tree()

    assert set(shown) == {SHARE}
    assert sorted(shown[SHARE]["data"]) == sorted(tables)


@pytest.mark.parametrize("name", ["customers", "device_readings", "odd_paths"])
def test_loads_the_rows_that_the_table_holds(profile, tables, name: str) -> None:
    rows = PowerBI(profile).rows(SHARE, "data", name)

    assert of_rows(rows) == of_table(tables[name].table.snapshot().read())


def test_a_row_limit_is_kept(profile, tables) -> None:
    assert tables["orders"].table.snapshot().read().num_rows > 10

    assert len(PowerBI(profile).rows(SHARE, "data", "orders", limit=10)) == 10


def test_a_table_with_vectors_is_refused_by_name_and_not_misread(profile, tables):
    assert "delta_spark__vectors" in tables
    with pytest.raises(RefusedError, match=r"400: .*Deletion vectors"):
        PowerBI(profile).rows(SHARE, "data", "delta_spark__vectors")
