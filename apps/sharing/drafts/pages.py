"""What the steps of the wizard show."""

from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.sharing.drafts import review as draft_review
from apps.sharing.drafts.draft import (
    MAX_NEW_RECIPIENTS,
    MAX_TABLES,
    STEPS,
    Draft,
)
from apps.sharing.drafts.session import faults_of, load_draft
from apps.sharing.issuing.lifetimes import first_lifetime
from apps.sharing.recipients.forms import NewRecipientForm
from apps.sharing.shares import detail as share_pages
from apps.sharing.shares.changes import ShareForm
from apps.sharing.shares.forms import MAX_PAGE
from apps.sharing.shares.parts.form import NewPart, TypedPart
from apps.sharing.shares.parts.page import form_context
from apps.sharing.shares.parts.shown import shown_part
from deltaweb.words import counted

ABOUT_PROPERTIES: Final = (
    "Properties belong to the recipient. The last step sets them; then they apply to "
    "every share that uses them."
)


class StepForm(forms.Form):
    """Which step is shown, the search of its list, and what is asked first."""

    step = forms.ChoiceField(choices=list(STEPS.items()), required=False)
    q = forms.CharField(max_length=200, required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)
    table = forms.CharField(max_length=401, required=False)
    ask = forms.ChoiceField(choices=[("discard", "")], required=False)
    tab = forms.IntegerField(min_value=0, max_value=MAX_TABLES - 1, required=False)


def to_step(step: str, **query: str) -> HttpResponse:
    """Lead to a step."""
    kept = {name.rstrip("_"): value for name, value in query.items() if value}
    address = urlencode({"step": step, **kept})
    return redirect(f"{reverse('sharing:share-new')}?{address}")


def step_page(  # noqa: PLR0913 (each is one part of the page)
    request: HttpRequest,
    fmt: str,
    *,
    step: str,
    name_form: forms.Form | None = None,
    table_forms: list[Any] | None = None,
    reader_form: forms.Form | None = None,
    part: NewPart | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponseBase:
    """Render a step; a form that does not fit is shown with its errors."""
    draft = load_draft(request)
    failed = problem or any(one is not None for one in (name_form, reader_form, part))
    values = cleaned(StepForm(request.GET))
    context: dict[str, Any] = {
        "step": step,
        "steps": _steps(draft, step),
        "draft": draft,
        "problem": problem,
        "max_tables": MAX_TABLES,
        "asks_to_discard": values["ask"] == "discard" and not draft.is_empty,
    }
    q = request.POST.get("q", values["q"])[:200].replace("\x00", "")
    page = values["page"] or 1
    if step == "name":
        initial = {"name": draft.name, "comment": draft.comment}
        context["form"] = name_form or ShareForm(initial=initial)
    elif step == "tables":
        context |= _tables_context(draft, q, page, table_forms)
    elif step == "recipients":
        context |= _recipients_context(draft, q, page, reader_form)
    elif step == "seen":
        context |= seen_context(request, draft, part)
    else:
        who, now = signed_in(request), timezone.now()
        readers = draft_review.readers_of(draft)
        tables = draft_review.chosen_tables(draft)
        tables = draft_review.counted_tables(tables, readers, user=who, now=now)
        context |= {
            "tables": tables,
            "seen": draft_review.newly_seen(readers, tables, now=now),
            "faults": faults_of(request, draft),
        }
    return respond(
        request,
        fmt,
        template=f"sharing/drafts/wizard_{step}.html",
        context=context,
        data={"step": step, "draft": draft.to_session()},
        status=422 if failed else status,
    )


def _tables_context(
    draft: Draft, q: str, page: int, table_forms: list[Any] | None
) -> dict[str, Any]:
    chosen = draft_review.chosen_tables(draft)
    bound = table_forms or [table.form(n) for n, table in enumerate(draft.tables)]
    choices, place = share_pages.table_choices(q=q, page=page)
    return {
        "q": q,
        "choices": choices,
        "paged": place,
        "namespaces": draft_review.namespace_choices(),
        "chosen": list(zip(chosen, bound, strict=True)),
        "chosen_ids": {UUID(table.table_id) for table in draft.tables},
        "show_errors": table_forms is not None,
    }


def _recipients_context(
    draft: Draft, q: str, page: int, form: forms.Form | None
) -> dict[str, Any]:
    begun = draft.begun
    lifetime = (begun.lifetime, begun.until) if begun.lifetime else first_lifetime()
    initial = {**asdict(begun), "lifetime": lifetime}
    now = timezone.now()
    choices, place = draft_review.recipient_choices(q=q, page=page, now=now)
    return {
        "q": q,
        "choices": choices,
        "paged": place,
        "form": form or NewRecipientForm(initial=initial),
        "max_new": MAX_NEW_RECIPIENTS,
        "max_days": settings.TOKEN_MAX_DAYS,
    }


def seen_context(
    request: HttpRequest, draft: Draft, part: NewPart | None = None
) -> dict[str, Any]:
    """Return what the step *What they see* shows of one of the tables.

    Args:
        request: Its address, or its form, names the table and the recipient.
        draft: The draft.
        part: The rule as it was typed; None for that of the draft.
    """
    tables = draft_review.chosen_tables(draft)
    if not tables:
        return {"part": None}
    tab = min(tab_of(request), len(tables) - 1)
    chosen, shown = tables[tab], None
    if chosen.table is not None:
        shown = shown_part(
            chosen.table,
            part or chosen.typed,
            draft_review.readers_of(draft),
            viewed=request.POST.get("as", request.GET.get("as", "")),
            typed=TypedPart.of(request.POST),
            is_plain=chosen.offered.plain,
            user=signed_in(request),
            now=timezone.now(),
        )
    context = {
        "part": shown,
        "chosen": chosen,
        "tab": str(tab),
        "tabs": [(str(n), table.draft.full_name) for n, table in enumerate(tables)],
        "num_others": len(tables) - 1,
        "is_for_all": "for_all" in request.POST,
    }
    if shown is not None:
        context |= form_context(shown, reverse("sharing:share-new"))
        context["about_properties"] = ABOUT_PROPERTIES
    return context


def tab_of(request: HttpRequest) -> int:
    """Return the place of the table that is shown, by the form or the address."""
    sent = request.POST.get("tab", request.GET.get("tab", ""))
    return min(int(sent), MAX_TABLES) if sent.isascii() and sent.isdecimal() else 0


def _steps(draft: Draft, current: str) -> list[dict[str, Any]]:
    """Return the steps with what was done in each."""
    words = {
        "name": draft.name or "name and comment",
        "tables": _counted(len(draft.tables), "table") or "the tables in it",
        "recipients": _counted(draft.num_recipients, "recipient") or "who can read it",
        "seen": "rows and columns",
        "review": "nothing is shared before",
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
    return counted(number, noun) if number else ""
