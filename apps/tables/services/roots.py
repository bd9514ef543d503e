"""The folders that tables may be registered from."""

from datetime import datetime
from pathlib import Path

from django.conf import settings

from apps.accounts.models import User
from apps.tables.models import AllowedRoot

SAMPLES_FOLDER = "samples"


def allow_root(path: str, *, reason: str, now: datetime) -> AllowedRoot:
    """Allow a folder for good, whatever `DELTAWEB_ALLOWED_ROOTS` says (LAKE)."""
    root, _ = AllowedRoot.objects.update_or_create(
        path=str(Path(path).resolve()),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": now},
    )
    return root


def samples_folder() -> Path:
    """Return the folder of the sample tables."""
    return Path(settings.HOME) / SAMPLES_FOLDER


def roots_for(user: User | None) -> list[str] | None:
    """Return the folders that `user` may register from; None is any.

    Where `DELTAWEB_ALLOWED_ROOTS` is not set, administrators and the command line
    (no user) may register any path; editors what LAKE and the samples hold.
    """
    if settings.ALLOWED_ROOTS is None and (user is None or user.is_admin):
        return None
    stored = AllowedRoot.objects.order_by("path").values_list("path", flat=True)
    return [*(settings.ALLOWED_ROOTS or []), *stored, str(samples_folder())]
