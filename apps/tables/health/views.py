"""The page of findings, and its answers to the form of a finding."""

from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect, resolve_url

from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm
from apps.tables.health.changes import UPDATE, may_take
from apps.tables.health.listing import FINDINGS
from apps.tables.health.resources import FindingRow
from apps.tables.models import StoredFinding

LIST: Final = "list"
"""The field of the form that has the query of the list."""
KEPT: Final = (*FINDINGS.filters, "sort", "page")


def finding_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what the rules found, one finding opened in place."""
    people: list[str] = []
    if fmt == "html" and getattr(request.user, "is_editor", False):
        people = list(may_take(None).values_list("username", flat=True))
    return FINDINGS.answer(request, fmt, people=people)


def finding_saved(
    request: HttpRequest, found: StoredFinding, result: FindingRow
) -> HttpResponseBase:
    """Return to the list after a change, with its filters and its order."""
    messages.success(request, UPDATE.says(result))
    return _list_again(request, found)


def finding_refused(
    request: HttpRequest, found: StoredFinding, form: ChangeForm
) -> HttpResponseBase:
    """Return to the list, and say what is wrong."""
    for sentence in sentences_of(form):
        messages.error(request, sentence)
    return _list_again(request, found)


def _list_again(request: HttpRequest, found: StoredFinding) -> HttpResponseBase:
    sent, query = QueryDict(request.POST.get(LIST, "")), QueryDict(mutable=True)
    query.update({name: sent[name] for name in KEPT if sent.get(name)})
    query["open"] = str(found.pk)
    return redirect(f"{resolve_url('tables:finding-list')}?{query.urlencode()}")
