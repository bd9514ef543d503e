"""Where the page of a file is."""

from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from apps.explorer.version.table_version import TableVersion

MAX_PATH_LENGTH: Final = 1_000  # longer ones are cut in lists, and no address of a page


def file_address(at: TableVersion, path: str) -> str:
    """Return the page of a file of a version; "" where no address can name it."""
    folder, _, name = path.rpartition("/")
    if name in {"", ".", ".."} or len(path) > MAX_PATH_LENGTH:
        return ""
    url = reverse(
        "explorer:file-detail", args=[at.table.namespace, at.table.name, name]
    )
    query = {"folder": folder} if folder else {}
    if not at.is_latest:
        query["v"] = str(at.version)
    return f"{url}?{urlencode(query)}" if query else url
