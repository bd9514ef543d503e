"""Where the page of a file is."""

from urllib.parse import urlencode

from django.urls import reverse

from apps.explorer.grid.long_texts import MAX_PATH_LENGTH
from apps.explorer.version.table_version import TableVersion


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
