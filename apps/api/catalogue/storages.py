"""Storage connections: options go in, and never come out.

Who changes how a bucket is reached changes what everybody reads of it, so that asks for
the scope `admin`, which no key has unasked.
"""

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest
from django.urls import reverse

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.pages.actions import stamp_of
from apps.pages.page_json import Spread
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import (
    StorageResource,
    add_connection,
    find_connection,
    remove_connection,
    reseal_connections,
    storage_resource,
)
from apps.tables.storage.errors import StorageNotFoundError
from apps.tables.storage.options import sent_options
from apps.tables.storage.received import is_received
from apps.tables.storage.trying import try_again, try_connection
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.objects.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStorage:
    """A storage connection that is to be kept.

    Attributes:
        name: What people call it.
        prefix: What locations begin with, such as s3://bucket/.
        options: Of the driver (s3fs, gcsfs, adlfs); a dot leads into a mapping, such
            as client_kwargs.endpoint_url. None names a variable or a file of the
            server: the command line alone may.
        replace: Whether a known storage gets these instead.
        write: Whether writing is tested as well.
        untried: Whether it is kept without a test.
    """

    name: str
    prefix: str
    options: dict[str, str]
    replace: bool = False
    write: bool = False
    untried: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTrial:
    """What is tried.

    Attributes:
        write: Whether a file is made there, and deleted again.
    """

    write: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedStorage:
    """A storage connection, and what it let us do.

    Attributes:
        tried: Null where it was not asked, or names no bucket.
    """

    resource: Spread[StorageResource]
    tried: Trial | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Storages:
    """The storage connections."""

    storages: list[StorageResource]


class StorageList(RestView):
    """The storage connections."""

    @endpoint(Role.ADMIN, answers=Storages)
    def get(self) -> object:
        """List storage connections, without the values of their options."""
        kept = StorageConnection.objects.exclude(prefix__startswith=RECEIVED)
        return Storages(storages=[*map(storage_resource, kept)])

    @endpoint(
        Role.ADMIN, body=NewStorage, answers={201: TriedStorage}, scope=Scope.ADMIN
    )
    def post(self, request: HttpRequest, body: NewStorage) -> Answer:
        """Test a storage connection and store it encrypted."""
        options = sent_options(body.options)
        tried = try_connection(
            body.prefix,
            options,
            name=body.name,
            is_asked=not body.untried,
            is_written=body.write,
        )
        kept = add_connection(
            name=body.name,
            prefix=body.prefix,
            options=options,
            replace=body.replace,
            stamp=stamp_of(request),
        )
        made = TriedStorage(resource=storage_resource(kept), tried=tried)
        there = reverse("api:storage", args=[kept.name])
        return Answer(made, HTTPStatus.CREATED, {"Location": there})


class Storage(RestView):
    """One storage connection."""

    @endpoint(Role.ADMIN, answers=StorageResource)
    def get(self, name: str) -> object:
        """Get a storage connection, without the values of its options."""
        return storage_resource(_find(name))

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.ADMIN)
    def delete(self, request: HttpRequest, name: str) -> None:
        """Remove a storage connection; its tables stay registered."""
        found, stamp = _find(name), stamp_of(request)
        remove_connection(found, stamp=stamp)


class StorageTrial(RestView):
    """What a storage connection lets us do by now."""

    @endpoint(Role.ADMIN, body=WantedTrial, answers=TriedStorage, scope=Scope.ADMIN)
    def post(self, name: str, body: WantedTrial) -> object:
        """Test a storage connection: list, read and, if requested, write."""
        found = _find(name)
        tried = try_again(found, is_written=body.write)
        return TriedStorage(resource=storage_resource(found), tried=tried)


class Resealing(RestView):
    """The secret key that all options are sealed with."""

    @endpoint(Role.ADMIN, answers=Storages, scope=Scope.ADMIN)
    def post(self, request: HttpRequest) -> object:
        """Encrypt all options again with the current secret key.

        Profiles of those who share with us are sealed with it, too.
        """
        sealed = reseal_connections(stamp=stamp_of(request))
        return Storages(storages=[*map(storage_resource, sealed)])


def _find(name: str) -> StorageConnection:
    """Return a storage connection; the profile of a provider is none."""
    found = find_connection(name)
    if is_received(found.prefix):
        raise StorageNotFoundError(name=name)
    return found
