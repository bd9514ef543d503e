"""The folders and object stores that tables may be registered from."""

from datetime import datetime
from pathlib import Path

from django.conf import settings

from apps.accounts.models import User
from apps.tables.models import AllowedRoot
from apps.tables.storage.connections import connection_prefixes
from apps.tables.storage.locations import is_remote, parse_root
from apps.tables.storage.url_prefixes import ANY_STORE

SAMPLES_FOLDER = "samples"


def allow_root(path: str, *, reason: str, now: datetime) -> AllowedRoot:
    """Allow a folder or URL for good, whatever `DELTAWEB_ALLOWED_ROOTS` says (LAKE)."""
    root, _ = AllowedRoot.objects.update_or_create(
        path=parse_root(path) if is_remote(path) else str(Path(path).resolve()),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": now},
    )
    return root


def samples_folder() -> Path:
    """Return the folder of the sample tables."""
    return Path(settings.HOME) / SAMPLES_FOLDER


def roots_for(user: User | None) -> list[str] | None:
    """Return the folders and prefixes of URLs that `user` may register from.

    None is any: where `DELTAWEB_ALLOWED_ROOTS` is not set, for administrators and the
    command line (no user). Editors always get what the setting, LAKE, the samples and
    the storage connections hold; so does everybody once the setting names a URL.
    While it names folders alone, it says nothing of object stores to the others.
    """
    is_trusted = user is None or user.is_admin
    configured = settings.ALLOWED_ROOTS
    if configured is None and is_trusted:
        return None
    roots = [parse_root(root) for root in configured or []]
    stored = AllowedRoot.objects.order_by("path").values_list("path", flat=True)
    folders = [*stored, str(samples_folder())]
    if is_trusted and not any(is_remote(root) for root in roots):
        return [*roots, *folders, *ANY_STORE]
    return [*roots, *folders, *connection_prefixes()]
