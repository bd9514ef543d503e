"""The page of received shares; its form takes a profile as a file or as text."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.actions import stamp_of
from apps.pages.responses import respond
from apps.sharing.shares.received.changes import ADD, NewProvider
from apps.sharing.shares.received.listing import received_page
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.received.profile import MAX_PROFILE_BYTES


class ProfileForm(forms.Form):
    """A profile of somebody else: a file, or its text."""

    name = forms.CharField(
        max_length=100, error_messages={"required": "Enter a name for the provider."}
    )
    file = forms.FileField(required=False, max_length=200)
    text = forms.CharField(required=False, max_length=MAX_PROFILE_BYTES)
    replace = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Take the file's text where there is a file."""
        values = super().clean() or {}
        file = values.get("file")
        if file is not None:
            if file.size > MAX_PROFILE_BYTES:
                self.add_error("file", "This file is too large for a profile.")
            else:
                values["text"] = file.read()
        elif not values.get("text") and "text" not in self.errors:
            self.add_error("file", "Choose the .share file, or paste its text.")
        return values


@admin_required
def received_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """Show what others share with us."""
    return _page(request, fmt, ProfileForm())


@admin_required
def received_add(request: HttpRequest) -> HttpResponseBase:
    """Keep a profile that was tried, and look for its tables."""
    form = ProfileForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            new = NewProvider(
                name=form.cleaned_data["name"],
                profile=form.cleaned_data["text"],
                replace=form.cleaned_data["replace"],
            )
            added = ADD.carry_out(None, new, stamp_of(request))
        except DeltaError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, ADD.says(added))
            return redirect("sharing:received-list")
    return _page(request, "html", form)


def _page(request: HttpRequest, fmt: str, form: ProfileForm) -> HttpResponseBase:
    page = received_page(now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/shares/received_list.html",
        context={"page": page, "form": form},
        data=page,
        status=422 if form.errors else 200,
    )
