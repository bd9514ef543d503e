"""What a start says about allowed roots that allow nothing."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.web.tables.storage.locations import parse_root


def check_roots(
    app_configs: Sequence[AppConfig] | None,
    **_: Any,  # noqa: ANN401 (whatever Django passes on)
) -> list[CheckMessage]:
    """Name each URL among the allowed roots that is no bucket of an object store."""
    del app_configs
    found: list[CheckMessage] = []
    for root in settings.ALLOWED_ROOTS or []:
        try:
            parse_root(root)
        except LocationInvalidError as error:
            said = f"DELTAWEB_ALLOWED_ROOTS: {error.message}"
            found.append(Error(said, hint=error.hint, id="tables.E001"))
    return found
