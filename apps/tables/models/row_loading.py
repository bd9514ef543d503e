"""Many rows into a table of the database, by the fastest way that it has.

Model instances cost more than the insert itself; a history of 100,000 commits is
rows of plain values from the index to the database.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from django.db import connection, models

ROWS_A_PART: Final = 4096


def insert_rows(
    model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows as they are: nothing is checked but by the database.

    Args:
        model: The model of the rows; its primary key is the database's to give.
        fields: Names of fields, in the order of the values.
        rows: Values as `stored_values` or the database's driver takes them; JSON is
            text. Read once, not all at a time.
    """
    quote = connection.ops.quote_name
    options = model._meta  # noqa: SLF001 (public API of Django, by its documentation)
    columns = [quote(str(_column(model, name).column)) for name in fields]
    into = f"{quote(options.db_table)} ({', '.join(columns)})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(columns))
            insert = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608 (names of ours)
            for part in _parts(rows):
                cursor.executemany(insert, part)


def stored_values(
    model: type[models.Model], field: str, values: Iterable[object]
) -> list[Any]:
    """Return values of one field as the database's driver takes them."""
    column = _column(model, field)
    return [column.get_db_prep_save(value, connection) for value in values]


def _column(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    field = model._meta.get_field(name)  # noqa: SLF001 (public API of Django)
    if not isinstance(field, models.Field):
        raise TypeError(name)
    return field


def _parts(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    remaining = iter(rows)
    while part := list(islice(remaining, ROWS_A_PART)):
        yield part
