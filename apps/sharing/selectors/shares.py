"""Shares and their tables, found by the names that people write."""

from apps.sharing.errors import SharedTableNotFoundError, ShareNotFoundError
from apps.sharing.models import Share, SharedTable
from apps.sharing.names import is_storable, name_key, split_full_name
from apps.tables.models import Table


def find_share(name: str) -> Share:
    """Return a share, whatever the capitals of `name`.

    Raises:
        ShareNotFoundError: If there is none.
    """
    shares = Share.objects.filter(name_key=name_key(name)) if is_storable(name) else ()
    for share in shares:
        return share
    raise ShareNotFoundError(name=name)


def find_shared_table(share: Share, full_name: str) -> SharedTable:
    """Return a table of a share by `schema.table`, whatever its capitals.

    Raises:
        NameInvalidError: If the text is not written schema.table.
        SharedTableNotFoundError: If there is none.
    """
    schema, name = split_full_name(full_name)
    tables = share.shared_tables.select_related("share", "table").filter(
        schema_key=name_key(schema), name_key=name_key(name)
    )
    for table in tables:
        return table
    raise SharedTableNotFoundError(share=share.name, name=full_name)


def shares_in_words(table: Table) -> list[str]:
    """Return the shares that hold a table, each as "the share sales"."""
    shares = Share.objects.filter(shared_tables__table=table).distinct()
    return [f"the share {share.name}" for share in shares]
