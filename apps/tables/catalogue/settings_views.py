"""The page of a table's settings: name, description, schedule, who sees it."""

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import signed_in
from apps.pages.changes.forms import sentences_of
from apps.pages.changes.html import change_form
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.tables.catalogue.changes import UPDATE
from apps.tables.catalogue.organizing.labels import account_names
from apps.tables.head.shapes import table_json
from apps.tables.head.table_head import table_head
from apps.tables.models import Table
from apps.tables.models.schedules import schedule_choices, schedule_json
from apps.tables.permissions import note_rights


def table_settings(
    request: HttpRequest, table: Table, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the forms of a table's settings and of its removal."""
    return _settings_page(request, table, fmt, form=form)


def removal_again(
    request: HttpRequest, table: Table, form: ChangeForm
) -> HttpResponseBase:
    """Show the forms again, with the errors of that of the removal."""
    return _settings_page(request, table, "html", remove_form=form)


def _settings_page(
    request: HttpRequest,
    table: Table,
    fmt: str,
    *,
    form: ChangeForm | None = None,
    remove_form: ChangeForm | None = None,
) -> HttpResponseBase:
    # As stored: a refused name is not its name.
    table = Table.objects.with_privacy().get(id=table.id)
    note_rights(signed_in(request), table)
    data = table_json(table) | schedule_json(table.refresh_interval_s)
    present = change_form(UPDATE, **data | {"description": table.description})
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_settings.html",
        context={
            "head": table_head(table),
            "table": table,
            "form": form or present,
            "schedules": schedule_choices(),
            "accounts": account_names(),
            "removal_errors": sentences_of(remove_form) if remove_form else (),
        },
        data=data,
        status=422 if form or remove_form else 200,
    )
