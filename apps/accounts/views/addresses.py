"""The link that confirms an e-mail address."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts import services
from apps.accounts.permissions import public
from apps.pages.actions import stamp_of


@public
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show a button that confirms an address; POST confirms it.

    It signs nobody in, so it also works in another browser. GET changes nothing,
    because mail filters open links.
    """
    stamp = stamp_of(request)
    if request.method == "POST":
        user = services.confirm_address(token=token, stamp=stamp)
        if request.user == user:
            messages.success(request, f"{user.email} is confirmed.")
            return redirect("accounts:me")
        context = {"name": user.username, "address": user.email, "is_done": True}
    else:
        link = services.find_address_link(token=token, now=stamp.at)
        context = {"name": link.user.username, "address": link.address}
    response = render(request, "accounts/confirm_address.html", context)
    response["Referrer-Policy"] = "strict-origin"
    response["Cache-Control"] = "no-store"
    return response
