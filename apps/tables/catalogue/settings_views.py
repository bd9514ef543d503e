"""What editors may change of a table: name, description, schedule, who sees it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.accounts.permissions import editor_required, signed_in
from apps.pages.actions import stamp_of
from apps.pages.responses import respond
from apps.tables.catalogue.forms import RemoveForm, SettingsForm
from apps.tables.catalogue.registration import change_table, remove_table
from apps.tables.head.finding import get_table
from apps.tables.head.shapes import table_json
from apps.tables.head.table_head import table_head
from apps.tables.models import Table
from apps.tables.models.schedules import schedule_json, schedule_name
from deltaweb.delta.errors import DeltaError


@editor_required
def table_settings(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show and change a table's name, description, schedule and who sees it."""
    table = get_table(signed_in(request), namespace, name)
    form = SettingsForm(request.POST or None, initial=_present(table))
    if request.method == "POST" and form.is_valid():
        values = form.changes
        try:
            change_table(
                table,
                name=values["name"],
                description=values["description"],
                restricted=values["restricted"],
                schedule=values["refresh"],
                stamp=stamp_of(request),
            )
        except DeltaError as error:
            form.add_error("name", str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("tables:table-settings", table.namespace, table.name)
    return _settings_page(request, table, fmt, form=form)


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
    form: SettingsForm | None = None,
    remove_form: RemoveForm | None = None,
) -> HttpResponseBase:
    failed = any(bound and bound.errors for bound in (form, remove_form))
    if form is None:
        form = SettingsForm(initial=_present(table))
    table = Table.objects.get(id=table.id)  # as stored: a refused name is not its name
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_settings.html",
        context={
            "head": table_head(table),
            "table": table,
            "form": form,
            "remove_form": remove_form or RemoveForm(),
        },
        data=table_json(table) | schedule_json(table.refresh_interval_s),
        status=422 if failed else 200,
    )


def _present(table: Table) -> dict[str, Any]:
    """Return what the form shows before anything is changed."""
    return {
        "name": table.full_name,
        "description": table.description,
        "restricted": table.restricted,
        "refresh": schedule_name(table.refresh_interval_s),
    }
