"""Triggers by which the database itself refuses to change the record."""

from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE: Final = "audit_auditevent"
REFUSAL: Final = "the audit record is append-only"
NAMES: Final = {"UPDATE": "audit_no_update", "DELETE": "audit_no_delete"}
REPLACE_NAME: Final = "audit_no_replace"  # of SQLite alone

_POSTGRESQL_FUNCTION: Final = f"""
    CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION '{REFUSAL}'; END;
    $$ LANGUAGE plpgsql
"""
# A row that REPLACE takes away fires no trigger of DELETE.
_SQLITE_REPLACE: Final = f"""
    CREATE TRIGGER {REPLACE_NAME} BEFORE INSERT ON {TABLE}
    WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
"""  # noqa: S608 (of constants)


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    """Make the database refuse UPDATE and DELETE of events, again where it does."""
    drop_triggers(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_FUNCTION)
        if connection.vendor == "sqlite":
            cursor.execute(_SQLITE_REPLACE)
        for verb, name in NAMES.items():
            cursor.execute(_trigger(connection.vendor, verb, name))


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away: to migrate back, or to empty a test's database."""
    with connection.cursor() as cursor:
        for name in (*NAMES.values(), REPLACE_NAME):
            on_table = f" ON {TABLE}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


def allow_deletion(connection: BaseDatabaseWrapper) -> None:
    """Let this transaction delete events, until `refuse_deletion`."""
    on_table = f" ON {TABLE}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER IF EXISTS {NAMES['DELETE']}{on_table}")


def refuse_deletion(connection: BaseDatabaseWrapper) -> None:
    """Make the database refuse DELETE of events again."""
    with connection.cursor() as cursor:
        cursor.execute(_trigger(connection.vendor, "DELETE", NAMES["DELETE"]))


def _trigger(vendor: str, verb: str, name: str) -> str:
    before = f"CREATE TRIGGER {name} BEFORE {verb} ON {TABLE}"
    if vendor == "postgresql":
        return f"{before} FOR EACH ROW EXECUTE FUNCTION audit_refuse()"
    return f"{before} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
