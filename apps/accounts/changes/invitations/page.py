"""The page of invitations; for administrators only."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.changes.invitations.resource import INVITATIONS
from apps.accounts.models import User
from apps.accounts.permissions import admin_required
from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm


@admin_required
def invitation_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the open invitations."""
    return _page(request, fmt)


def refused(request: HttpRequest, _: object, form: ChangeForm) -> HttpResponseBase:
    """Show the invitations, and why a change was refused."""
    return _page(request, form=form)


def _page(
    request: HttpRequest, fmt: str = "html", *, form: ChangeForm | None = None
) -> HttpResponseBase:
    return INVITATIONS.answer(
        request,
        fmt,
        status=form.status if form else 200,
        errors=sentences_of(form) if form else [],
        roles=User.Role.choices,
        has_sign_on=settings.HAS_SIGN_ON,
    )
