"""Accounts of people and their API keys: one's own, and for administrators all.

A key that was stolen must not become a password or more keys, so what is here asks for
the scope `admin`, which no key has unasked.
"""

from dataclasses import dataclass

from django.http import HttpRequest

from apps.accounts import selectors, services, urls
from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.accounts.selectors import (
    AccountResource,
)
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.pages import page_endpoint
from apps.api.shapes import changed_to
from apps.pages.actions import stamp_of
from apps.pages.request.changes import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """How pages look; what is left out stays.

    Attributes:
        theme: Light, dark, or as the browser has it.
        time_zone: Of the times on pages, such as `Europe/Berlin`.
    """

    theme: str | Unchanged = changed_to(map(str.lower, User.Theme.values))  # noqa: RUF009 (a field)
    time_zone: str | Unchanged = UNCHANGED


class Me(RestView):
    """Who calls."""

    get = page_endpoint(
        urls.urlpatterns,
        "me",
        AccountResource,
        "Tell whose key it is that calls, and what their keys may do.",
    )

    @endpoint(Role.VIEWER, body=Appearance, answers=AccountResource)
    def patch(self, request: HttpRequest, body: Appearance) -> object:
        """Change how pages look for who calls."""
        user, stamp = signed_in(request), stamp_of(request)
        changed = services.set_appearance(
            user=user,
            theme=body.theme,
            time_zone=body.time_zone,
            stamp=stamp,
        )
        return selectors.account_resource(changed, now=stamp.at)
