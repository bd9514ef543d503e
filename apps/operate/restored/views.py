"""The page of the decisions after a restore, for administrators."""

from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.operate.errors import AuditLinesInvalidError
from apps.operate.restored.changes import (
    COMPARE,
    AuditLines,
    newest_restoration,
    restored_page,
)
from apps.operate.restored.comparing import MAX_LENGTH
from apps.pages.actions import stamp_of
from apps.pages.responses import respond

TOO_LARGE: Final = (
    "This file is too large for a page. Compare it by the command: deltaweb restored"
    " compare FILE"
)


class AuditFileForm(forms.Form):
    """A file with lines of the audit record."""

    file = forms.FileField(
        max_length=200,
        allow_empty_file=True,
        error_messages={"required": "Choose a file of JSON lines."},
    )

    def clean_file(self) -> str:
        """Return the text of the file."""
        file = self.cleaned_data["file"]
        if file.size > MAX_LENGTH:
            raise forms.ValidationError(TOO_LARGE)
        text: str = file.read().decode(errors="replace")
        return text


def restored(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what is to be decided after the newest restore."""
    return _page(request, fmt, AuditFileForm())


def restored_compare(request: HttpRequest) -> HttpResponseBase:
    """Compare the database with the lines of a file."""
    restoration = newest_restoration()
    form = AuditFileForm(request.POST, request.FILES)
    if form.is_valid():
        asked = AuditLines(lines=form.cleaned_data["file"])
        try:
            found = COMPARE.carry_out(restoration, asked, stamp_of(request))
        except AuditLinesInvalidError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, COMPARE.says(found))
            return redirect("operate:restored")
    return _page(request, "html", form)


def _page(request: HttpRequest, fmt: str, form: forms.Form) -> HttpResponseBase:
    page = restored_page(timezone.now())
    context: dict[str, object] = {"one": page.restoration, "form": form}
    return respond(
        request,
        fmt,
        template="operate/restored.html",
        context=context,
        data=page,
        status=422 if form.errors else 200,
    )


restored.role = "ADMIN"  # type: ignore[attr-defined]  # The middleware checks it.
restored_compare.role = "ADMIN"  # type: ignore[attr-defined]  # as above
