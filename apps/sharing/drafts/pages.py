"""What the steps of the wizard show, and what becomes of the files of a draft."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.sharing.access.grants.rule_preview import RulePreview, preview_rule
from apps.sharing.access.grants.rules import TableRule, rule_of
from apps.sharing.drafts import review as draft_review
from apps.sharing.drafts.draft import (
    MAX_NEW_RECIPIENTS,
    MAX_TABLES,
    STEPS,
    Draft,
)
from apps.sharing.drafts.review import ChosenTable
from apps.sharing.drafts.session import faults_of, load_draft
from apps.sharing.issuing.lifetimes import first_lifetime
from apps.sharing.models import Recipient
from apps.sharing.recipients.forms import NewRecipientForm
from apps.sharing.shares import detail as share_pages
from apps.sharing.shares.changes import ShareForm
from apps.sharing.shares.forms import MAX_PAGE
from deltaweb.delta.errors import DeltaError
from deltaweb.words import counted

MAX_RULES: Final = 12
"""Of all tables: each has files judged while somebody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedTable:
    """A table of which a part is shared.

    Attributes:
        parts: What each rule would leave, and for whom; equal rules are one.
        num_more: Rules that were not looked at.
        problem: Why that is not known; "" where it is.
    """

    chosen: ChosenTable
    parts: list[tuple[list[str], RulePreview]] = field(default_factory=list)
    num_more: int = 0
    problem: str = ""


def previewed_tables(
    draft: Draft, tables: Sequence[ChosenTable]
) -> list[PreviewedTable]:
    """Return what becomes of the files of tables of which a part is shared."""
    known = Recipient.objects.filter(name__in=draft.recipients).order_by("name_key")
    new = (Recipient(name=one.name) for one in draft.new_recipients)
    recipients = [*known, *new] or [Recipient(name="")]
    room, found = MAX_RULES, []
    for chosen in tables:
        offered = chosen.offered
        if chosen.table is None or offered.is_whole:
            continue
        names: dict[str, list[str]] = {}
        rules: dict[str, TableRule] = {}
        try:
            for recipient in recipients:
                rule = rule_of([offered], recipient)
                rules[rule.digest] = rule
                names.setdefault(rule.digest, []).append(recipient.name)
            looked = [*rules][:room]
            parts = preview_rule(chosen.table, [rules[digest] for digest in looked])
        except DeltaError as error:
            found.append(PreviewedTable(chosen=chosen, problem=error.message))
            continue
        room -= len(looked)
        pairs = [(names[key], one) for key, one in zip(looked, parts, strict=True)]
        num_more = len(rules) - len(looked)
        found.append(PreviewedTable(chosen=chosen, parts=pairs, num_more=num_more))
    return found


class StepForm(forms.Form):
    """Which step is shown, the search of its list, and what is asked first."""

    step = forms.ChoiceField(choices=list(STEPS.items()), required=False)
    q = forms.CharField(max_length=200, required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)
    table = forms.CharField(max_length=401, required=False)
    ask = forms.ChoiceField(choices=[("discard", "")], required=False)


def to_step(step: str, **query: str) -> HttpResponse:
    """Lead to a step."""
    kept = {name: value for name, value in query.items() if value}
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
    problem: str = "",
    status: int = 200,
) -> HttpResponseBase:
    """Render a step; a form that does not fit is shown with its errors."""
    draft = load_draft(request)
    failed = problem or name_form is not None or reader_form is not None
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
    else:
        tables = draft_review.chosen_tables(draft)
        context |= {
            "tables": tables,
            "seen": draft_review.newly_seen(draft, tables, now=timezone.now()),
            "seen_by_new": draft_review.seen_by_new(draft, tables),
            "faults": faults_of(request, draft),
            "previews": previewed_tables(draft, tables),
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
    initial = {name: getattr(begun, name) for name in begun.__slots__}
    initial |= {"lifetime": lifetime}
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


def _steps(draft: Draft, current: str) -> list[dict[str, Any]]:
    """Return the four steps with what was done in each."""
    words = {
        "name": draft.name or "name and comment",
        "tables": _counted(len(draft.tables), "table") or "the tables in it",
        "recipients": _counted(draft.num_recipients, "recipient") or "who can read it",
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
    return counted(number, noun) if number else ""
