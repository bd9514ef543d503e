"""Signing in at an OpenID Connect provider, and being signed out by it."""

import re
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.errors import (
    SignOnFailedError,
    SignOnOffError,
    TooManySignInsError,
)
from apps.accounts.permissions import public
from apps.accounts.sign_on import logout
from apps.accounts.sign_on.way_out import SIGN_ON
from apps.accounts.views.sign_in import begin_session, safe_next
from apps.pages.request.addresses import client_address, network_of
from apps.pages.request.rate_limits import RateLimit
from deltaweb.sharing.oauth.errors import JWTRefusedError

# A company has one address, and its people come at the same time in the morning.
BY_ADDRESS: Final = RateLimit(file="rates-sign-on", rate_per_s=10.0, burst=1200)
_NOT_IN_CODES: Final = re.compile(r"[^a-z_]+")


@public
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponseBase:
    """Lead to the provider; a link does, because a form may not lead there."""
    _check_on(request)
    from apps.accounts.sign_on.oidc import Begin  # noqa: PLC0415 (it loads slowly)

    response: HttpResponseBase = Begin.as_view()(request)
    request.session["oidc_login_next"] = safe_next(request)
    return response


@public
@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponseBase:
    """Take a person back from the provider, and begin the session."""
    _check_on(request)
    from apps.accounts.sign_on.oidc import Return, SignedOn  # noqa: PLC0415 (as above)

    if refusal := request.GET.get("error"):
        code = _NOT_IN_CODES.sub("", refusal)[:60]
        raise SignOnFailedError(reason=f"the provider refused ({code})")
    if request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:
        raise SignOnFailedError(reason="another provider answered")
    next_url = request.session.get("oidc_login_next") or "/"
    try:
        found = Return.as_view()(request)
    except SuspiciousOperation:
        reason = "it did not begin in this browser, or was answered before"
        raise SignOnFailedError(reason=reason) from None
    except JWTRefusedError as error:
        reason = f"the id token is refused, because {error.reason}"
        raise SignOnFailedError(reason=reason) from error
    if not isinstance(found, SignedOn):
        raise SignOnFailedError(reason="the answer is not complete")
    begin_session(request, found.identity.user)
    request.session[SIGN_ON] = found.id_token
    request.session.save()
    logout.remember_session(
        found.identity,
        session_key=request.session.session_key or "",
        sid=found.sid,
        now=timezone.now(),
    )
    return redirect(next_url)


@public
@csrf_exempt
@never_cache
@sensitive_post_parameters("logout_token")
@require_POST
def log_out(request: HttpRequest) -> HttpResponseBase:
    """End sessions because the provider says so; its signature is the proof."""
    _check_on(request)
    try:
        logout.log_out(request.POST.get("logout_token", ""), now=timezone.now())
    except JWTRefusedError as error:
        said = {"error": "invalid_request", "error_description": error.reason}
        return JsonResponse(said, status=400)
    return HttpResponse()


def _check_on(request: HttpRequest) -> None:
    """Refuse without a provider, and too many requests of one address."""
    if not settings.OIDC_ISSUER:
        raise SignOnOffError
    network = network_of(client_address(request))
    wait_s = BY_ADDRESS.take(network.encode(), now_s=timezone.now().timestamp())
    if wait_s > 0:
        wait = timedelta(seconds=wait_s)
        raise TooManySignInsError(where="from your address", wait=wait)
