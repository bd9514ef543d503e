"""The wizard that makes a share: name, tables, recipients, what they see, review.

Every button saves what was typed into the session and leads on by a redirect, so that
the steps can be walked back and forth, and a step reloaded, without losing anything.
"""

from collections.abc import Callable
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from apps.accounts.permissions import admin_required
from apps.pages.actions import stamp_of
from apps.pages.changes.forms import place_error
from apps.pages.request.parameters import cleaned
from apps.sharing.access.grants.checks import check_condition
from apps.sharing.drafts import review
from apps.sharing.drafts.draft import (
    MAX_NEW_RECIPIENTS,
    Draft,
    DraftRecipient,
    NamedPart,
    without,
)
from apps.sharing.drafts.pages import (
    StepForm,
    seen_context,
    step_page,
    tab_of,
    to_step,
)
from apps.sharing.drafts.review import ChosenTable
from apps.sharing.drafts.services import MadeShare, make_share
from apps.sharing.drafts.session import (
    add_namespace,
    add_tables,
    drop_draft,
    faults_of,
    load_draft,
    save_draft,
)
from apps.sharing.errors import ConditionError
from apps.sharing.issuing.token_result import show_links
from apps.sharing.recipients.properties import property_texts
from apps.sharing.recipients.services import NewRecipient
from apps.sharing.shares import detail as share_pages
from apps.sharing.shares.changes import ShareChange, ShareForm
from apps.sharing.shares.parts.form import NewPart, TypedPart, new_part
from deltaweb.words import counted


@admin_required
def share_new(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """Show a step of the wizard, or take what was typed there."""
    if request.method == "POST":
        if request.POST.get("action") == "discard-now":
            return _discard(request)
        step = request.POST.get("step", "name")
        return _TAKERS.get(step, _take_name)(request, load_draft(request))
    values = cleaned(StepForm(request.GET))
    if values["table"]:
        return _choose_first(request, values["table"])
    return step_page(request, fmt, step=values["step"] or "name")


def _choose_first(request: HttpRequest, name: str) -> HttpResponse:
    """Begin with a table that another page has named."""
    draft, table = load_draft(request), share_pages.find_table(name)
    if table is None:
        messages.error(request, f"No table is named {name[:80]}.")
    else:
        add_tables(request, draft, [str(table.id)])
    return to_step("name")


def _ask_to_discard(request: HttpRequest, step: str) -> HttpResponse:
    """Ask before anything that was chosen is lost."""
    if load_draft(request).is_empty:
        return _discard(request)
    return to_step(step, ask="discard")


def _discard(request: HttpRequest) -> HttpResponse:
    drop_draft(request)
    messages.success(request, "The draft is discarded.")
    return redirect("sharing:share-list")


# === What each step takes ===


def _take_name(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    form = ShareForm(request.POST)
    draft = save_draft(
        request,
        replace(
            draft,
            name=request.POST.get("name", "").strip(),
            comment=request.POST.get("comment", "").strip(),
        ),
    )
    if request.POST.get("action") == "discard":
        return _ask_to_discard(request, "name")
    if form.is_valid():
        only_name = Draft(name=draft.name, comment=draft.comment)
        fault = faults_of(request, only_name).share
        if fault is None:
            return to_step("tables")
        place_error(form, ShareChange, fault)
    return step_page(request, "html", step="name", name_form=form)


def _take_tables(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    draft = save_draft(request, draft.with_tables_of(request.POST))
    action, _, value = request.POST.get("action", "").partition(":")
    if action == "next":
        if request.POST.getlist("pick"):  # chosen, though not added
            add_tables(request, draft, request.POST.getlist("pick"))
        return _check_tables(request, load_draft(request))
    if action == "back":
        return to_step("name")
    page = value if action == "page" else request.POST.get("page", "")
    if action == "add":
        add_tables(request, draft, [value], again=True)
    elif action == "add-ticked":
        add_tables(request, draft, request.POST.getlist("pick"))
    elif action == "add-namespace":
        add_namespace(request, draft, request.POST.get("namespace", ""))
    elif action == "remove":
        save_draft(request, replace(draft, tables=without(draft.tables, value)))
    elif action == "search":
        page = ""
    return to_step("tables", q=request.POST.get("q", "")[:200], page=page)


def _check_tables(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    if not draft.tables:
        return step_page(request, "html", step="tables", problem="Choose a table.")
    table_forms = [table.form(place) for place, table in enumerate(draft.tables)]
    for place, error in faults_of(request, draft).tables.items():
        if table_forms[place].is_valid():
            place_error(table_forms[place], NamedPart, error)
    if all(form.is_valid() for form in table_forms):
        return to_step("recipients")
    return step_page(
        request,
        "html",
        step="tables",
        table_forms=table_forms,
        problem="Some tables cannot be shared like this yet.",
    )


def _take_recipients(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    draft = draft.with_recipients(
        request.POST.getlist("recipient"), shown=request.POST.getlist("shown")
    )
    begun = DraftRecipient.typed(request.POST)
    draft = save_draft(request, replace(draft, begun=begun))
    action, _, value = request.POST.get("action", "").partition(":")
    if action == "new" or (action == "next" and draft.begun.is_begun):
        return _add_recipient(request, draft, then="seen" * (action == "next"))
    if action == "next":
        return to_step("seen")
    if action == "back":
        return to_step("tables")
    if action == "drop":
        new = without(draft.new_recipients, value)
        save_draft(request, replace(draft, new_recipients=new))
    q = request.POST.get("q", "")[:200]
    return to_step("recipients", q=q, page=value if action == "page" else "")


def _add_recipient(
    request: HttpRequest, draft: Draft, *, then: str
) -> HttpResponseBase:
    """Take a new recipient into the draft, if it could be made."""
    form = draft.begun.form()
    if len(draft.new_recipients) >= MAX_NEW_RECIPIENTS:
        form.add_error(None, f"{MAX_NEW_RECIPIENTS} new recipients fit into a draft.")
    new = (*draft.new_recipients, draft.begun)
    added = replace(draft, new_recipients=new, begun=DraftRecipient())
    if form.is_valid():
        place = len(draft.new_recipients)
        if fault := faults_of(request, added).new_recipients.get(place):
            place_error(form, NewRecipient, fault)
    if not form.is_valid():
        return step_page(request, "html", step="recipients", reader_form=form)
    save_draft(request, added)
    return to_step(then or "recipients")


def _take_seen(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    """Take the rule of one table, and properties of recipients, into the draft."""
    action, _, value = request.POST.get("action", "").partition(":")
    place, tables = tab_of(request), review.chosen_tables(draft)
    table = tables[place].table if place < len(tables) else None
    if table is None:
        return to_step({"next": "review", "back": "recipients"}.get(action, "seen"))
    table_id = tables[place].draft.table_id
    if request.POST.get("table_id", table_id) != table_id:
        return to_step("seen")  # of another window: the draft has moved on
    recipients = [one.recipient for one in review.readers_of(draft)]
    part = new_part(
        TypedPart.of(request.POST), tables[place].offered, table, recipients
    )
    if "for_all" in request.POST and not part.is_wrong:
        part = _checked_for_all(part, tables)
    if "HX-Request" in request.headers:  # it looks; only buttons keep what was typed
        context = {**seen_context(request, draft, part), "draft": draft}
        return render(request, "sharing/shares/_what_they_see.html", context)
    if part.is_wrong:
        return step_page(request, "html", step="seen", part=part)
    offers = list(draft.tables)
    offers[place] = offers[place].with_rule(part.condition, part.columns)
    if "for_all" in request.POST:
        offers = [
            one.with_rule(part.condition, one.offered.columns)
            if number != place
            else one
            for number, one in enumerate(offers)
        ]
    texts = {name: property_texts(part.values[name]) for name in part.values}
    draft = replace(draft, tables=tuple(offers)).with_values(texts)
    save_draft(request, draft)
    if action in {"next", "back"}:
        return to_step("review" if action == "next" else "recipients")
    tab = value if action == "tab" and value.isdecimal() else str(place)
    return to_step("seen", tab=tab, as_=request.POST.get("as", ""))


def _checked_for_all(part: NewPart, tables: list[ChosenTable]) -> NewPart:
    """Refuse a condition for all tables that one of them cannot take."""
    for one in tables:
        try:
            if one.table is not None:
                check_condition(one.table, part.condition)
        except ConditionError as error:
            said = f"{one.draft.full_name} cannot have this condition: {error.message}"
            return replace(part, errors={"for_all": said})
    return part


def _take_review(request: HttpRequest, draft: Draft) -> HttpResponseBase:
    action = request.POST.get("action", "")
    if action == "discard":
        return _ask_to_discard(request, "review")
    if action != "create":
        return to_step("seen")
    if draft.is_empty:  # sent again, or by another tab
        problem = (
            "This draft no longer exists. If a share was created from it, it is "
            "under Shares."
        )
        return step_page(request, "html", step="review", problem=problem)
    if draft.tables:
        made = make_share(draft, stamp=stamp_of(request))
        if made.faults.is_empty:
            return _done(request, draft, made)
    return step_page(request, "html", step="review", status=422)


def _done(request: HttpRequest, draft: Draft, made: MadeShare) -> HttpResponseBase:
    """Lead on; links of new recipients are shown in this answer alone."""
    drop_draft(request)
    said = (
        f"Share {made.share.name} created: {counted(len(draft.tables), 'table')}, "
        f"{counted(draft.num_recipients, 'recipient')}."
    )
    if made.credentials:
        return show_links(request, made.share, made.credentials, said=said)
    messages.success(request, said)
    return redirect(made.share)


_TAKERS: dict[str, Callable[[HttpRequest, Draft], HttpResponseBase]] = {
    "name": _take_name,
    "tables": _take_tables,
    "recipients": _take_recipients,
    "seen": _take_seen,
    "review": _take_review,
}
