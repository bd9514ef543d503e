"""What administrators ask of received shares: add a profile, look again, remove."""

import dataclasses
import shutil
from typing import Final

from django.conf import settings
from django.db import transaction

from apps.pages.actions import Stamp
from apps.pages.request.changes import UNCHANGED
from apps.sharing.errors import ProviderNotFoundError
from apps.sharing.names import is_storable
from apps.tables.catalogue.lakes.services import LakeRule, add_lake, remove_lake
from apps.tables.catalogue.names import parse_namespace
from apps.tables.catalogue.registration import remove_table
from apps.tables.errors import TableNameError
from apps.tables.models import Lake, StorageConnection
from apps.tables.storage import connections
from apps.tables.storage.received import look_bounds, mirror_folder
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.received.client import SharingClient
from deltaweb.storage.received.profile import parse_profile
from deltaweb.storage.received.transport import Transport

TRIAL_S: Final = 10.0  # somebody waits for it
SCHEDULE: Final = "10m"


def providers() -> list[StorageConnection]:
    """Return the providers whose profiles are kept, by name."""
    found = StorageConnection.objects.filter(prefix__startswith=RECEIVED)
    return list(found.select_related("created_by").order_by("name"))


def find_provider(name: str) -> StorageConnection:
    """Return a provider by the name that we gave it."""
    known = StorageConnection.objects.filter(prefix__startswith=RECEIVED, name=name)
    found = known.first() if is_storable(name) else None
    if found is None:
        raise ProviderNotFoundError(name=name)
    return found


def lake_of(provider: StorageConnection) -> Lake:
    """Return where the tables of a provider are looked for.

    Raises:
        ProviderNotFoundError: If it was removed; a new profile brings it back.
    """
    lake = Lake.objects.filter(url=provider.prefix).first()
    if lake is None:
        raise ProviderNotFoundError(name=provider.name)
    return lake


def add_provider(
    *,
    name: str,
    profile: str | bytes,
    stamp: Stamp,
    replace: bool = False,
) -> StorageConnection:
    """Try a profile, and keep it sealed; its tables come with the first look.

    Args:
        name: What people call the provider, and the namespace of its tables.
        replace: Whether the provider may be there, and gets this profile instead.
    """
    wanted = parse_namespace(name)
    if not wanted:
        raise TableNameError(name=name, reason="it is empty")
    parsed = parse_profile(profile)
    transport = Transport(tuple(settings.STORAGE_HOSTS), timeout_s=TRIAL_S)
    bounds = dataclasses.replace(look_bounds(), seconds=TRIAL_S)
    SharingClient(parsed, transport, wanted, bounds).tables()
    is_known = Lake.objects.filter(url=f"{RECEIVED}{wanted}").exists()
    with transaction.atomic():
        provider = connections.add_connection(
            name=wanted,
            prefix=f"{RECEIVED}{wanted}",
            options=parsed.fields(),
            stamp=stamp,
            replace=replace,
        )
        rule = LakeRule(namespace=wanted, schedule=UNCHANGED if is_known else SCHEDULE)
        add_lake(provider.prefix, rule, stamp=stamp)
    return provider


@transaction.atomic
def remove_provider(provider: StorageConnection, *, stamp: Stamp) -> list[str]:
    """Forget a profile and its tables in the catalogue; return their names."""
    lake, folder = lake_of(provider), mirror_folder(provider)
    tables = list(lake.tables.order_by("namespace", "name"))
    for table in tables:
        remove_table(table, stamp=stamp)
    remove_lake(lake, stamp=stamp)
    connections.remove_connection(provider, stamp=stamp)
    transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))
    return [table.full_name for table in tables]
