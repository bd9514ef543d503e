"""The page of a table's settings: name, description, schedule, who sees it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.accounts.permissions import editor_required, signed_in
from apps.pages.actions import stamp_of
from apps.pages.changes.html import change_form
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.tables.catalogue.changes import UPDATE
from apps.tables.catalogue.forms import RemoveForm
from apps.tables.catalogue.registration import remove_table
from apps.tables.head.finding import get_table
from apps.tables.head.shapes import table_json
from apps.tables.head.table_head import table_head
from apps.tables.models import Table
from apps.tables.models.schedules import schedule_choices, schedule_json
from deltaweb.delta.errors import DeltaError


@editor_required
def table_settings(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show the forms of a table's settings and of its removal."""
    return _settings_page(request, get_table(signed_in(request), namespace, name), fmt)


def settings_again(
    request: HttpRequest, table: Table, form: ChangeForm
) -> HttpResponseBase:
    """Show the forms again, with the errors of that of the settings."""
    return _settings_page(request, table, "html", form=form)


@editor_required
def table_remove(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Take a table out of the catalogue once its name has been typed again."""
    table = get_table(signed_in(request), namespace, name)
    form = RemoveForm(request.POST)
    if form.is_valid():
        if form.cleaned_data["confirm"] != table.full_name:
            form.add_error("confirm", f"Type {table.full_name} to remove it.")
        else:
            try:
                remove_table(table, stamp=stamp_of(request))
            except DeltaError as error:
                form.add_error("confirm", str(error))
            else:
                text = f"{table.full_name} is removed; its files were not touched."
                messages.success(request, text)
                return redirect("tables:table-list")
    return _settings_page(request, table, "html", remove_form=form)


def _settings_page(
    request: HttpRequest,
    table: Table,
    fmt: str,
    *,
    form: ChangeForm | None = None,
    remove_form: RemoveForm | None = None,
) -> HttpResponseBase:
    failed = any(bound and bound.errors for bound in (form, remove_form))
    table = Table.objects.get(id=table.id)  # as stored: a refused name is not its name
    stored = schedule_json(table.refresh_interval_s)
    present = change_form(
        UPDATE,
        name=table.full_name,
        description=table.description,
        restricted=table.restricted,
        refresh=stored["refresh"],
    )
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_settings.html",
        context={
            "head": table_head(table),
            "table": table,
            "form": form or present,
            "schedules": schedule_choices(),
            "remove_form": remove_form or RemoveForm(),
        },
        data=table_json(table) | stored,
        status=422 if failed else 200,
    )
