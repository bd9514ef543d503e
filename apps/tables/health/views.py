"""The page of findings."""

from django.http import HttpRequest, HttpResponseBase

from apps.tables.health.changes import may_take
from apps.tables.health.listing import FINDINGS


def finding_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what the rules found, one finding opened in place."""
    people: list[str] = []
    if fmt == "html" and getattr(request.user, "is_editor", False):
        people = list(may_take(None).values_list("username", flat=True))
    return FINDINGS.answer(request, fmt, people=people)
