"""The answer instead of a page of recipients while sharing is off."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase

from apps.operate.errors import SwitchedOffError
from apps.operate.switches.state import SHARING, require_on
from apps.pages.errors import error_response

PORTAL: Final = "portal"
ACTIVATION: Final = "sharing:activate"


class SharingSwitchMiddleware:
    """Refuses pages of recipients and activation links while sharing is off.

    Endpoints of the sharing protocol ask for themselves: their errors have a form of
    their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: object,
        kwargs: object,
    ) -> HttpResponseBase | None:
        """Return the refusal, or None."""
        del view, args, kwargs
        match = request.resolver_match
        if match is None or not (
            PORTAL in match.namespaces or match.view_name == ACTIVATION
        ):
            return None
        try:
            require_on(SHARING)
        except SwitchedOffError as error:
            return error_response(request, error)
        return None
