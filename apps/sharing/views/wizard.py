"""The wizard that makes a share: name, tables, recipients, review.

Every button saves what was typed into the session and leads on by a redirect, so that
the steps can be walked back and forth, and a step reloaded, without losing anything.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import admin_required
from apps.pages.actions import actor_of
from apps.pages.responses import respond
from apps.sharing.forms.share_draft import MAX_TABLES, STEPS, Draft, draft_data
from apps.sharing.forms.shares import MAX_PAGE, ShareForm, place_error
from apps.sharing.selectors import draft_review, share_pages
from apps.sharing.services.draft_check import DraftFaults, check_draft
from apps.sharing.services.shares import create_from_draft
from apps.tables.models import Table
from apps.tables.views.shapes import cleaned
from deltaweb.delta.errors import DeltaError

SESSION_KEY = "share-draft"


class StepForm(forms.Form):
    """Which step is shown, and the search of its list."""

    step = forms.ChoiceField(choices=list(STEPS.items()), required=False)
    q = forms.CharField(max_length=200, required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)
    table = forms.CharField(max_length=401, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def share_new(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """Show a step of the wizard, or take what was typed there."""
    if request.method == "POST":
        step = request.POST.get("step", "name")
        return _TAKERS.get(step, _take_name)(request, _draft(request))
    values = cleaned(StepForm(request.GET))
    if values["table"]:
        return _choose_first(request, values["table"])
    return _step_page(request, fmt, step=values["step"] or "name")


# === What each step takes ===


def _take_name(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    form = ShareForm(request.POST)
    draft = _save(
        request,
        replace(
            draft,
            name=request.POST.get("name", "").strip(),
            comment=request.POST.get("comment", "").strip(),
        ),
    )
    if request.POST.get("action") == "discard":
        return _discard(request)
    if form.is_valid():
        only_name = replace(draft, tables=(), recipients=())
        fault = _faults(request, only_name).share
        if fault is None:
            return _to("tables")
        place_error(form, fault)
    return _step_page(request, "html", step="name", name_form=form)


def _take_tables(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    draft = _save(request, draft.with_tables_of(request.POST))
    action, _, value = request.POST.get("action", "").partition(":")
    if action == "next":
        return _check_tables(request, draft)
    if action == "back":
        return _to("name")
    page = value if action == "page" else ""
    if action == "add":
        _add(request, draft, value)
        page = request.POST.get("page", "")
    elif action == "remove" and value.isdecimal():
        _save(request, draft.without_table(int(value)))
        page = request.POST.get("page", "")
    return _to("tables", q=request.POST.get("q", "")[:200], page=page)


def _check_tables(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    if not draft.tables:
        return _step_page(request, "html", step="tables", problem="Choose a table.")
    table_forms = [table.form(place) for place, table in enumerate(draft.tables)]
    for place, error in _faults(request, draft).tables.items():
        if table_forms[place].is_valid():
            place_error(table_forms[place], error)
    if all(form.is_valid() for form in table_forms):
        return _to("recipients")
    return _step_page(
        request,
        "html",
        step="tables",
        table_forms=table_forms,
        problem="Some tables cannot be shared like this yet.",
    )


def _take_recipients(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    _save(
        request,
        draft.with_recipients(
            request.POST.getlist("recipient"), shown=request.POST.getlist("shown")
        ),
    )
    action, _, value = request.POST.get("action", "").partition(":")
    if action == "next":
        return _to("review")
    if action == "back":
        return _to("tables")
    q = request.POST.get("q", "")[:200]
    return _to("recipients", q=q, page=value if action == "page" else "")


def _take_review(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    action = request.POST.get("action", "")
    if action == "discard":
        return _discard(request)
    if action != "create":
        return _to("recipients")
    if not _faults(request, draft).is_empty or not draft.tables:
        return _step_page(request, "html", step="review", status=422)
    try:
        share = create_from_draft(
            draft.as_share_draft(), actor=actor_of(request), now=timezone.now()
        )
    except DeltaError as error:  # somebody was quicker
        problem = f"{error.message} {error.hint}".strip()
        return _step_page(request, "html", step="review", problem=problem)
    request.session.pop(SESSION_KEY, None)
    readers = len(draft.recipients)
    messages.success(
        request,
        f"{share.name} is there: {len(draft.tables)} "
        f"table{'s' * (len(draft.tables) != 1)}, {readers} "
        f"recipient{'s' * (readers != 1)}.",
    )
    return redirect(share)


_TAKERS: dict[str, Callable[[HttpRequest, Draft], HttpResponseBase]] = {
    "name": _take_name,
    "tables": _take_tables,
    "recipients": _take_recipients,
    "review": _take_review,
}


# === The draft ===


def _draft(request: HttpRequest) -> Draft:
    return Draft.from_session(request.session.get(SESSION_KEY))


def _save(request: HttpRequest, draft: Draft) -> Draft:
    request.session[SESSION_KEY] = draft.to_session()
    return draft


def _discard(request: HttpRequest) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    messages.success(request, "The draft is discarded.")
    return redirect("sharing:share-list")


def _choose_first(request: HttpRequest, name: str) -> HttpResponse:
    """Begin with a table that another page has named."""
    draft, table = _draft(request), share_pages.find_table(name)
    if table is None:
        messages.error(request, f"No table is named {name[:80]}.")
    elif str(table.id) not in {chosen.table_id for chosen in draft.tables}:
        _add(request, draft, str(table.id))
    return _to("name")


def _add(request: HttpRequest, draft: Draft, table_id: str) -> None:
    try:
        table = Table.objects.filter(id=UUID(table_id)).first()
    except ValueError:
        table = None
    if table is None:
        messages.error(request, "That table is no longer registered.")
    elif len(draft.tables) >= MAX_TABLES:
        text = f"{MAX_TABLES} tables fit here; add more on the page of the share."
        messages.error(request, text)
    else:
        _save(
            request,
            draft.with_table(table.id, schema=table.namespace, name=table.name),
        )


def _faults(request: HttpRequest, draft: Draft) -> DraftFaults:
    return check_draft(
        draft.as_share_draft(), actor=actor_of(request), now=timezone.now()
    )


def _to(step: str, **query: str) -> HttpResponse:
    kept = {name: value for name, value in query.items() if value}
    address = urlencode({"step": step, **kept})
    return redirect(f"{reverse('sharing:share-new')}?{address}")


# === What each step shows ===


def _step_page(  # noqa: PLR0913 (each is one part of the page)
    request: HttpRequest,
    fmt: str,
    *,
    step: str,
    name_form: ShareForm | None = None,
    table_forms: list[Any] | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponseBase:
    draft = _draft(request)
    failed = problem or name_form is not None
    context: dict[str, Any] = {
        "step": step,
        "steps": _steps(draft, step),
        "draft": draft,
        "problem": problem,
        "max_tables": MAX_TABLES,
    }
    values = cleaned(StepForm(request.GET))
    q = request.POST.get("q", values["q"])[:200].replace("\x00", "")
    page = values["page"] or 1
    if step == "name":
        initial = {"name": draft.name, "comment": draft.comment}
        context["form"] = name_form or ShareForm(initial=initial)
    elif step == "tables":
        context |= _tables_context(draft, q, page, table_forms)
    elif step == "recipients":
        context |= {
            "q": q,
            "choices": draft_review.recipient_choices(
                q=q, page=page, now=timezone.now()
            ),
        }
    else:
        tables = draft_review.chosen_tables(draft)
        context |= {
            "tables": tables,
            "seen": draft_review.newly_seen(draft, tables, now=timezone.now()),
            "faults": _faults(request, draft),
        }
    return respond(
        request,
        fmt,
        template=f"sharing/wizard_{step}.html",
        context=context,
        data={"step": step, "draft": draft_data(draft)},
        status=422 if failed else status,
    )


def _tables_context(
    draft: Draft, q: str, page: int, table_forms: list[Any] | None
) -> dict[str, Any]:
    chosen = draft_review.chosen_tables(draft)
    bound = table_forms or [table.form(n) for n, table in enumerate(draft.tables)]
    return {
        "q": q,
        "choices": share_pages.table_choices(q=q, page=page),
        "chosen": list(zip(chosen, bound, strict=True)),
        "chosen_ids": {UUID(table.table_id) for table in draft.tables},
        "show_errors": table_forms is not None,
    }


def _steps(draft: Draft, current: str) -> list[dict[str, Any]]:
    """Return the four steps with what was done in each."""
    words = {
        "name": draft.name or "what it is called",
        "tables": _counted(len(draft.tables), "table") or "what is in it",
        "recipients": _counted(len(draft.recipients), "recipient") or "who reads it",
        "review": "what they will see",
    }
    place = list(STEPS).index(current)
    return [
        {
            "key": key,
            "label": label,
            "words": words[key],
            "state": "done" if number < place else "now" if number == place else "",
            "number": number + 1,
        }
        for number, (key, label) in enumerate(STEPS.items())
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}" if number else ""
