"""What administrators ask of schemas that are shared whole: add, remove, look at."""

from dataclasses import MISSING, dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.shortcuts import get_object_or_404, resolve_url

from apps.accounts.models import User
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import (
    ADMIN,
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import Spread, shaped
from apps.sharing.access.errors import (
    NamespaceUnknownError,
    SharedSchemaNotFoundError,
)
from apps.sharing.access.offered import OfferedVersions
from apps.sharing.access.schemas import resolve_schemas, unshared_tables
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import NameTakenError
from apps.sharing.models import Share, SharedSchema
from apps.sharing.names import check_name, find_share, is_storable, name_key
from apps.sharing.shares.forms import MAX_TEXT_LENGTH
from apps.sharing.shares.tables.sharers import (
    check_may_share_whole,
    check_sharer,
    share_for,
)
from apps.sharing.shares.terms import Versions
from apps.tables.models import Table
from apps.tables.permissions import SHARE, require_in_by
from deltaweb.words import counted

ROUTE: Final = "shares/<str:name>/schemas"
MAX_NAMESPACE_LENGTH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsharedTable:
    """A table of a namespace that its schema does not offer, and why."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSchemaResource:
    """A schema that is shared whole, as every machine form names it.

    Attributes:
        schema: The name that recipients use.
        namespace: The namespace of the catalog that is shared.
        num_tables: The number of its tables that are in the share now.
        unshared: The tables that cannot be shared.
    """

    share: str
    schema: str
    namespace: str
    history: Spread[OfferedVersions]
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
    versions: Versions | None = None,
    stamp: Stamp,
) -> SharedSchema:
    """Share a namespace whole: its tables of now, and those that come."""
    require_in_by(stamp, SHARE, namespace)
    check_name(schema, "schema")
    in_namespace = Table.objects.filter(namespace=namespace)
    if not is_storable(namespace) or not in_namespace.exists():
        raise NamespaceUnknownError(namespace=namespace)
    shared = SharedSchema(
        share=share,
        schema=schema,
        schema_key=name_key(schema),
        namespace=namespace,
        **(versions or Versions()).of_schema,
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
    require_in_by(stamp, SHARE, schema.namespace)
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
            history=shaped(OfferedVersions, schema),
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
        **schema.terms,
    }
    return action_on(name, stamp, schema.share, **detail)


# === Changes ===


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchema(Versions):
    """A namespace that is shared whole.

    Attributes:
        schema: The schema that recipients see; the name of the namespace if left out.
        namespace: The namespace to share. Tables that are added to it later are shared,
            too.
    """

    schema: str = parameter(
        "",
        line=Line(label="Schema", most=MAX_TEXT_LENGTH),
        help="the schema that recipients see",
    )
    namespace: str = parameter(
        MISSING,
        "--namespace",
        required=True,
        line=Line(
            label="Namespace",
            most=MAX_NAMESPACE_LENGTH,
            is_needed=True,
            wrong="Enter a namespace.",
        ),
        metavar="NS",
        help="the namespace to share",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasOfShare:
    """The schemas that a share has whole."""

    schemas: list[SharedSchemaResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedSchema:
    """A whole schema that was taken out of a share."""

    share: str
    schema: str
    removed: bool = True


def find_in_share(name: str, schema: str) -> SharedSchema:
    """Return a whole schema of a share by its name."""
    return find_schema(find_share(name), schema)


def schema_for(caller: User, name: str, schema: str) -> SharedSchema:
    """Return a whole schema of a share, to a caller who may share a table."""
    return find_schema(share_for(caller, name), schema)


def readable_for(caller: User, name: str, schema: str) -> SharedSchema:
    """Return a whole schema of a share, to a caller who may share its namespace."""
    found = schema_for(caller, name, schema)
    check_may_share_whole(caller, found)
    return found


def schema_by_id(caller: User, name: str, schema_id: UUID) -> SharedSchema:
    """Return a whole schema of a share by its id."""
    schemas = share_for(caller, name).shared_schemas.select_related("share")
    return get_object_or_404(schemas, id=schema_id)


def share_whole(share: Share, new: NewSchema, stamp: Stamp) -> SharedSchemaResource:
    """Share a namespace whole."""
    added = add_schema(
        share,
        schema=new.schema or new.namespace,
        namespace=new.namespace,
        versions=new,
        stamp=stamp,
    )
    return resource_of(added)


def share_by_page(share: Share, new: NewSchema, stamp: Stamp) -> SharedSchemaResource:
    """Share a namespace whole; a box that the form did not send is not checked."""
    return share_whole(share, new.as_stated(), stamp)


def take_out(schema: SharedSchema, _: Nothing, stamp: Stamp) -> RemovedSchema:
    """Take a schema out of a share, with every table that came with it."""
    removed = RemovedSchema(share=schema.share.name, schema=schema.schema)
    remove_schema(schema, stamp=stamp)
    return removed


def resource_of(schema: SharedSchema) -> SharedSchemaResource:
    """Return one schema of a share."""
    found = schema_resources(schema.share)
    return next(one for one in found if one.id == schema.id)


def schemas_of(name: str) -> SchemasOfShare:
    """Return the schemas that a share has whole."""
    return SchemasOfShare(schemas=schema_resources(find_share(name)))


SCHEMAS: Final = Subject(
    noun="schema",
    role=VIEWER,
    scope="share",
    find=find_share,
    may=lambda caller, _: check_sharer(caller),
)
NAMED: Final = replace(SCHEMAS, noun="share", metavars={"name": "share"})
NAMED_SCHEMA: Final = Subject(
    noun="share",
    role=VIEWER,
    scope="share",
    find=find_in_share,
    may=check_may_share_whole,
    metavars=NAMED.metavars,
)
ADD: Final = Change(
    of=NAMED,
    name="add-schema",
    help="Share a whole namespace.",
    more="Tables that are added to it later are shared automatically.",
    parameters=NewSchema,
    do=share_whole,
    result=SharedSchemaResource,
    says=lambda one: (
        f"{one.share} shares the namespace {one.namespace} as {one.schema}: "
        f"{counted(one.num_tables, 'table')}, and tables added later."
    ),
    record=("share.add_schema",),
    verb=Verb(
        warns=lambda _, one: [
            f"{left.table} is not shared: {left.reason}." for left in one.unshared
        ]
    ),
    call=Call("POST", ROUTE, view="SchemaList", find=share_for),
)
ADD_BY_PAGE: Final = Change(
    of=SCHEMAS,
    name="add",
    help="Share a whole namespace.",
    parameters=NewSchema,
    do=share_by_page,
    result=SharedSchemaResource,
    says=lambda one: (
        f"{one.share} shares the namespace {one.namespace} as {one.schema}."
    ),
    record=("share.add_schema",),
    page=Page(f"{ROUTE}/add", back=resolve_url, find=share_for),
)
REMOVE: Final = Change(
    of=NAMED_SCHEMA,
    name="remove-schema",
    help="Remove a whole schema and its tables from a share.",
    parameters=Nothing,
    do=take_out,
    result=RemovedSchema,
    says=lambda one: f"{one.schema} is no longer in {one.share}.",
    record=("share.remove_schema",),
    verb=Verb(
        question=lambda one, _: (
            f"Remove the whole schema {one.schema} from {one.share.name}?"
        )
    ),
    call=Call("DELETE", f"{ROUTE}/<str:schema>", view="Schema", find=schema_for),
    page=Page(
        f"{ROUTE}/<uuid:schema_id>/remove",
        back=lambda one: resolve_url(one.share),
        name="schema-remove",
        find=schema_by_id,
    ),
)
reads.register(
    Read(
        route=ROUTE,
        view="SchemaList",
        finds=schemas_of,
        shows=SchemasOfShare,
        help="List the whole schemas of a share.",
        role=ADMIN,
    ),
    Read(
        route=f"{ROUTE}/<str:schema>",
        view="Schema",
        finds=lambda caller, name, schema: resource_of(
            readable_for(caller, name, schema)
        ),
        shows=SharedSchemaResource,
        help="Get a whole schema of a share, and its tables that are not shared.",
        role=VIEWER,
    ),
)
