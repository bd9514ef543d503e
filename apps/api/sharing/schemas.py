"""Schemas that are shared whole: the tables of a namespace, and those that come."""

from dataclasses import dataclass

from django.http import HttpRequest

from apps.accounts.models import Scope
from apps.api.endpoint import RestView, Role, endpoint
from apps.pages.actions import stamp_of
from apps.sharing.models import Share
from apps.sharing.names import find_share
from apps.sharing.shares.schemas import (
    SharedSchemaResource,
    add_schema,
    find_schema,
    remove_schema,
    schema_resources,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchema:
    """A namespace that is to be shared whole.

    Attributes:
        namespace: Its tables are shared, and those that come.
        schema: What recipients call it; as the namespace, where it is left out.
        with_history: Whether older versions can be read.
    """

    namespace: str
    schema: str = ""
    with_history: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasOfShare:
    """The schemas that a share has whole."""

    schemas: list[SharedSchemaResource]


class SchemaList(RestView):
    """The whole schemas of a share."""

    @endpoint(Role.ADMIN, answers=SchemasOfShare)
    def get(self, name: str) -> object:
        """List the schemas that a share has whole."""
        return SchemasOfShare(schemas=schema_resources(find_share(name)))

    @endpoint(
        Role.ADMIN,
        body=NewSchema,
        answers={201: SharedSchemaResource},
        scope=Scope.SHARE,
    )
    def post(self, request: HttpRequest, name: str, body: NewSchema) -> object:
        """Share a namespace whole: its tables of now, and those that come."""
        share = find_share(name)
        added = add_schema(
            share,
            schema=body.schema or body.namespace,
            namespace=body.namespace,
            with_history=body.with_history,
            stamp=stamp_of(request),
        )
        return _resource(share, added.schema)


class Schema(RestView):
    """A schema that a share has whole."""

    @endpoint(Role.ADMIN, answers=SharedSchemaResource)
    def get(self, name: str, schema: str) -> object:
        """Tell what of a namespace a share offers, and what it cannot."""
        share = find_share(name)
        return _resource(share, find_schema(share, schema).schema)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, schema: str) -> None:
        """Take a schema out of a share, with every table that came with it."""
        found = find_schema(find_share(name), schema)
        remove_schema(found, stamp=stamp_of(request))


def _resource(share: Share, schema: str) -> SharedSchemaResource:
    return next(one for one in schema_resources(share) if one.schema == schema)
