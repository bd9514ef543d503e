"""The pages of groups: the list, and one group; for administrators only."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.groups.resource import GROUPS, group_detail, group_of_id
from apps.accounts.models import Group, User
from apps.accounts.permissions import admin_required
from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond_page

MAX_SUGGESTED = 500  # names that a browser suggests for a new member


@admin_required
def group_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the groups."""
    return _list_page(request, fmt)


def refused(request: HttpRequest, _: object, form: ChangeForm) -> HttpResponseBase:
    """Show the groups, and why a change was refused."""
    return _list_page(request, form=form)


@admin_required
def group_detail_page(
    request: HttpRequest, group_id: int, fmt: str
) -> HttpResponseBase:
    """Show a group, its members and its permissions."""
    group = group_of_id(group_id)
    page = group_detail(group, now=timezone.now())
    if fmt == "html":
        page = replace(page, others=_others(group))
    return respond_page(request, fmt, page, template="accounts/group_detail.html")


def _list_page(
    request: HttpRequest, fmt: str = "html", *, form: ChangeForm | None = None
) -> HttpResponseBase:
    return GROUPS.answer(
        request,
        fmt,
        status=form.status if form else 200,
        errors=sentences_of(form) if form else [],
        sources=Group.Source.choices,
    )


def _others(group: Group) -> list[str]:
    """Return names of active users who are not in a group."""
    others = User.objects.filter(is_active=True).exclude(memberships__group=group)
    names = others.order_by("username").values_list("username", flat=True)
    return list(names[:MAX_SUGGESTED])
