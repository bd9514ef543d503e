"""A bucket that is added with its keys: they are tested before anything is stored."""

import re
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.shortcuts import resolve_url

from apps.jobs.listing.resource import Started
from apps.jobs.waiting import started
from apps.pages.actions import Stamp
from apps.pages.changes.change import ADMIN, Call, Change, Page, Subject
from apps.pages.changes.parameters import Line, parameter
from apps.tables.catalogue.lakes.changes import NewLake, lake_of, said_scanned, scan_new
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.services import add_lake
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import add_connection, connection_for, parse_prefix
from apps.tables.storage.errors import (
    StorageFieldError,
    StorageKeyDeniedError,
    StoragePrefixTakenError,
)
from apps.tables.storage.locations import is_remote, parse_location
from apps.tables.storage.options import sent_options
from apps.tables.storage.trying import try_connection
from deltaweb.delta.errors import LocationDeniedError
from deltaweb.storage.location import AZURE_SCHEMES, S3_SCHEMES

MAX_KEY_LENGTH: Final = 500
MAX_NUMBER: Final = 1_000  # of storages that are called after one bucket
_ENDPOINT: Final = re.compile(
    r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._/-]*)?", re.ASCII
)
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NewLakeWithKeys(NewLake):
    """A lake and the keys of its object store. It is not printed: it has a secret.

    The keys are tested, and kept encrypted. Without them the server's own credentials
    and the storages that exist are used.

    Attributes:
        url: A folder on the server, or a URL of an object store.
        namespace: The namespace of every table; empty or null for the path below the
            lake.
        schedule: How often the lake is scanned; null for `never`, which scans only on
            request.
        key: The access key of S3, or the name of an account of Azure.
        secret: The secret of the access key, or the key of the account.
        endpoint: The address of a store that is not that of Amazon or Azure itself,
            such as https://minio.example:9000.
        region: The region of the bucket; empty for the usual one.
    """

    key: str = parameter(
        "",
        None,
        line=Line(
            label="Access key",
            most=MAX_KEY_LENGTH,
            codes=(
                "credentials-needed",
                "location-denied",
                "storage-field-invalid key",
                "storage-key-denied",
                "storage-key-unknown",
            ),
        ),
    )
    secret: str = parameter(
        "",
        None,
        line=Line(
            label="Secret",
            most=MAX_KEY_LENGTH,
            codes=(
                "credentials-expired",
                "storage-field-invalid secret",
                "storage-option-invalid",
                "storage-secret-wrong",
            ),
        ),
    )
    endpoint: str = parameter(
        "",
        None,
        line=Line(
            label="Endpoint",
            most=MAX_KEY_LENGTH,
            codes=(
                "clock-skewed",
                "location-unreachable",
                "storage-field-invalid endpoint",
                "storage-host-not-allowed",
            ),
        ),
    )
    region: str = parameter(
        "",
        None,
        line=Line(
            label="Region",
            most=100,
            codes=("storage-field-invalid region", "storage-region-wrong"),
        ),
    )


def scan_with_keys(_: None, new: NewLakeWithKeys, stamp: Stamp) -> Started:
    """Test the keys of a bucket, keep them, and request the scan of a lake in it.

    Raises:
        DeltaError: If the store cannot be read with them. Then nothing is kept.
    """
    if not (new.key or new.secret or new.endpoint or new.region):
        return scan_new(None, new, stamp)
    where = parse_location(new.url)
    options = sent_options(options_of(where, new))
    name = free_name(where)
    known = connection_for(where)
    if known is not None and known.prefix == parse_prefix(where):
        raise StoragePrefixTakenError(name=known.name, prefix=where)
    try:
        try_connection(where, options, name=name)
    except LocationDeniedError as error:
        if type(error) is LocationDeniedError:
            raise StorageKeyDeniedError(location=where) from None
        raise
    with transaction.atomic():
        add_connection(name=name, prefix=where, options=options, stamp=stamp)
        add_lake(where, new, stamp=stamp)
    return started(request_scan(where, stamp=stamp))


def options_of(where: str, new: NewLakeWithKeys) -> dict[str, str]:
    """Return the options of the driver of a URL, by the fields of the form."""
    key, secret, region = new.key.strip(), new.secret.strip(), new.region.strip()
    endpoint, scheme = new.endpoint.strip(), where.partition("://")[0]
    if not is_remote(where):
        raise StorageFieldError(kind="key", reason="A folder of the server has no keys")
    if scheme not in {*S3_SCHEMES, *AZURE_SCHEMES}:
        raise StorageFieldError(
            kind="key",
            reason="Google takes a key file instead: "
            f"deltaweb storage add NAME --prefix {where} --option token=file:PATH",
        )
    if key and not secret:
        raise StorageFieldError(
            kind="secret", reason="Give the secret of the access key"
        )
    if secret and not key:
        raise StorageFieldError(kind="key", reason="Give the access key of the secret")
    if endpoint and _ENDPOINT.fullmatch(endpoint) is None:
        raise StorageFieldError(
            kind="endpoint",
            reason="Give its address, such as https://minio.example:9000",
        )
    if scheme in AZURE_SCHEMES:
        if region:
            raise StorageFieldError(
                kind="region", reason="Azure has no regions here: leave it empty"
            )
        return _azure_options(key, secret, endpoint)
    found = {
        "key": key,
        "secret": secret,
        "client_kwargs.endpoint_url": endpoint,
        "client_kwargs.region_name": region,
    }
    return {name: value for name, value in found.items() if value}


def _azure_options(key: str, secret: str, endpoint: str) -> dict[str, str]:
    if not endpoint:
        return {"account_name": key, "account_key": secret}
    if not key or ";" in key + secret:
        raise StorageFieldError(
            kind="key", reason="Give the name and the key of the account"
        )
    parts = [f"AccountName={key}", f"AccountKey={secret}", f"BlobEndpoint={endpoint}"]
    return {"connection_string": ";".join(parts)}


def free_name(where: str) -> str:
    """Return a name for the storage of a URL, after its bucket, that is free."""
    bucket = where.partition("://")[2].partition("/")[0].partition("@")[0]
    wanted = _NO_NAME.sub("-", bucket).strip("-._")[:90] or "bucket"
    taken = set(
        StorageConnection.objects.filter(name__startswith=wanted).values_list(
            "name", flat=True
        )
    )
    names = (wanted, *(f"{wanted}-{number}" for number in range(2, MAX_NUMBER)))
    return next(name for name in names if name not in taken)


NEW_STORE: Final = Subject(noun="lake", role=ADMIN, scope="admin", find=lambda: None)
SCAN_WITH_KEYS: Final = Change(
    of=NEW_STORE,
    name="connect",
    help="Register every table below a URL whose keys are sent.",
    more="The keys are tested first, and kept encrypted. If they do not work, neither "
    "the keys nor the lake is kept.",
    parameters=NewLakeWithKeys,
    do=scan_with_keys,
    is_atomic=False,
    result=Started,
    says=said_scanned,
    record=("lake.add", "lake.schedule", "lake.set_namespace", "storage.add"),
    call=Call(
        "POST",
        "lakes",
        view="LakeList",
        status=202,
        location=lambda scan: resolve_url("api:job", scan.job.id),
    ),
    page=Page(
        "tables/lakes/connect",
        back=lambda _: resolve_url("tables:lake-list"),
        then=lake_of,
        name="lake-connect",
    ),
)
