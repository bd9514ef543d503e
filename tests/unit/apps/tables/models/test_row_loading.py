from datetime import UTC, datetime

import pytest

from apps.tables.models import Commit, Table
from apps.tables.models.row_loading import insert_rows, stored_values
from tests.support.pages.factories import new_unindexed_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]
FIELDS = ("version", "committed_at", "sentence", "metrics", "added_rows", "table")
AT = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)
ODD = "tab\t line\n back\\slash \\N 'quote' \"two\" é 漢 \U0001f600"


def values(table, version, *, sentence="", added_rows=1):
    (at,) = stored_values(Commit, "committed_at", [AT])
    (table_id,) = stored_values(Commit, "table", [table.id])
    return version, at, sentence, '{"a": [1, null]}', added_rows, table_id


# The fields that have no default in the database are told too.
DEFAULTS = {
    field.name: field.get_default()
    for field in Commit._meta.concrete_fields  # noqa: SLF001 (public API of Django)
    if field.name not in {*FIELDS, "id", "parameters"}
}


def insert(rows: list[tuple[object, ...]]) -> None:
    rest = (*DEFAULTS.values(), "{}")
    fields = (*FIELDS, *DEFAULTS, "parameters")
    insert_rows(Commit, fields, ((*row, *rest) for row in rows))


class TestInsertRows:
    def test_stores_what_a_model_would_store(self) -> None:
        table = new_unindexed_table()
        Commit.objects.create(
            table=table,
            version=0,
            committed_at=AT,
            sentence=ODD,
            metrics={"a": [1, None]},
            added_rows=None,
        )

        insert([values(table, 1, sentence=ODD, added_rows=None)])

        first, second = Commit.objects.order_by("version").values()
        assert first | {"id": None, "version": None} == (
            second | {"id": None, "version": None}
        )
        assert first["id"] != second["id"]
        assert Commit.objects.filter(committed_at=AT).count() == 2

    def test_takes_more_rows_than_a_statement_has(self) -> None:
        table = new_unindexed_table()

        insert([values(table, version) for version in range(5000)])

        assert table.commits.count() == 5000
        assert table.commits.filter(metrics__a__0=1).count() == 5000

    def test_takes_none(self) -> None:
        insert([])

        assert not Commit.objects.exists()

    def test_knows_the_fields_of_the_model_alone(self) -> None:
        with pytest.raises(TypeError, match="commits"):
            insert_rows(Table, ["commits"], [])
