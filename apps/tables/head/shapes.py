"""What the pages of the catalogue share: their query, their links, their JSON."""

from typing import Any, cast

from django import forms
from django.http import HttpRequest

from deltaweb.web.accounts.models import User
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.lists.fields import hints_of
from deltaweb.web.pages.request.server_paths import place_for_reader, text_for_reader
from deltaweb.web.tables.models import Table


def signed_in(request: HttpRequest) -> User:
    """Return who is signed in: the middleware lets nobody else come here."""
    return cast("User", request.user)


def cleaned(form: forms.Form) -> dict[str, Any]:
    """Return a query string's values; a hand-edited one that makes no sense is a 400.

    Raises:
        PageError: 400, naming the parameters and what is wrong with each.
    """
    if not form.is_valid():
        faults = (
            f"{name}: {' '.join(str(text) for text in texts)}"
            for name, texts in form.errors.items()
        )
        raise PageError(
            status=400,
            code="query-invalid",
            message=f"The address asks for something odd: {'; '.join(faults)}",
            hint=hints_of(form)
            or "Correct the address, or start again from the catalog.",
        )
    return form.cleaned_data


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as every `.json` of the catalogue shows it."""
    return {
        "name": table.full_name,
        "namespace": table.namespace,
        "table": table.name,
        "location": place_for_reader(table.location),
        "description": table.about,
        "restricted": table.restricted,
        "state": table.state,
        "behind": table.behind or None,
        "version": table.version,
        "committed_at": table.committed_at,
        "indexed_at": table.indexed_at,
        "num_records": table.num_records,
        "num_files": table.num_files,
        "size_bytes": table.size_bytes,
        "num_columns": table.num_columns,
        "partition_columns": table.partition_columns,
        "error": text_for_reader(table.error, table.location) or None,
        "url": table.get_absolute_url(),
    }
