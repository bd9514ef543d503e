"""The first page of a recipient: the tables that are shared with it."""

from typing import Final

from django.http import HttpRequest, HttpResponseBase

from apps.sharing.portal.offer import (
    budget_of,
    code_for,
    listed_tables,
    offer_of,
    verdicts_of,
)
from apps.sharing.portal.visit import Visit, shown, visitors_page

MAX_SEARCH_LENGTH: Final = 200


@visitors_page("portal.tables")
def tables(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """List the tables, what was used of the budget, and the code for each client."""
    recipient = visit.recipient
    offer = offer_of(recipient)
    text = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    context = {
        "offer": offer,
        "search": text,
        "tables": listed_tables(offer, text, since=visit.session.previous_visit_at),
        "verdicts": verdicts_of(offer.tables),
        "snippets": code_for(recipient, offer.tables),
        "budget": budget_of(recipient, now=visit.now),
    }
    return shown(request, "tables.html", context, visit=visit)
