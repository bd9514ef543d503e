"""What administrators ask of schemas that are shared whole: add, remove, look at."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from apps.pages.actions import Action, Stamp, report
from apps.pages.page_json import shaped
from apps.sharing.access.errors import (
    NamespaceUnknownError,
    SharedSchemaNotFoundError,
)
from apps.sharing.access.schemas import resolve_schemas, unshared_tables
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import NameTakenError
from apps.sharing.models import Share, SharedSchema
from apps.sharing.names import check_name, is_storable, name_key
from apps.tables.models import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsharedTable:
    """A table of a namespace that its schema does not offer, and why."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSchemaResource:
    """A schema that is shared whole, as every machine form names it.

    Attributes:
        schema: What recipients call it.
        namespace: The namespace of the catalogue whose tables it has.
        num_tables: How many of them are in the share by now.
        unshared: Those that cannot be shared.
    """

    share: str
    schema: str
    namespace: str
    with_history: bool
    num_tables: int
    unshared: list[UnsharedTable]
    added_at: datetime
    id: UUID


@transaction.atomic
def add_schema(
    share: Share,
    *,
    schema: str,
    namespace: str,
    with_history: bool = True,
    stamp: Stamp,
) -> SharedSchema:
    """Share a namespace whole: its tables of now, and those that come."""
    check_name(schema, "schema")
    in_namespace = Table.objects.filter(namespace=namespace)
    if not is_storable(namespace) or not in_namespace.exists():
        raise NamespaceUnknownError(namespace=namespace)
    shared = SharedSchema(
        share=share,
        schema=schema,
        schema_key=name_key(schema),
        namespace=namespace,
        with_history=with_history,
        added_at=stamp.at,
        added_by_id=stamp.actor.user_id,
    )
    try:
        with transaction.atomic():
            shared.save(force_insert=True)
    except IntegrityError as error:
        raise NameTakenError(kind="whole schema", name=schema) from error
    report(_action("share.add_schema", shared, stamp))
    resolve_schemas(share)
    return shared


@transaction.atomic
def remove_schema(schema: SharedSchema, *, stamp: Stamp) -> None:
    """Take a schema out of a share, with every table that came with it."""
    report(_action("share.remove_schema", schema, stamp))
    schema.delete()


def find_schema(share: Share, name: str) -> SharedSchema:
    """Return a schema that is shared whole, whatever the capitals of `name`."""
    if is_storable(name):
        found = share.shared_schemas.filter(schema_key=name_key(name)).first()
        if found is not None:
            return found
    raise SharedSchemaNotFoundError(share=share.name, name=name)


def schema_resources(share: Share) -> list[SharedSchemaResource]:
    """Return the schemas of a share, by name, as the catalogue is by now."""
    return [
        shaped(
            SharedSchemaResource,
            schema,
            share=share.name,
            num_tables=schema.tables.count(),
            unshared=[
                UnsharedTable(table=table.full_name, reason=reason)
                for table, reason in unshared_tables(schema)
            ],
        )
        for schema in resolve_schemas(share)
    ]


def _action(name: str, schema: SharedSchema, stamp: Stamp) -> Action:
    detail = {
        "schema": schema.schema,
        "namespace": schema.namespace,
        "with_history": schema.with_history,
    }
    return action_on(name, stamp, schema.share, **detail)
