"""What is set of a share: name, comment, end, and schemas that it has whole."""

from django import forms
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import admin_required
from apps.pages.responses import respond
from apps.sharing.access.grants.plain_cost import cost_of
from apps.sharing.models import Share
from apps.sharing.names import find_share
from apps.sharing.shares.changes import ShareForm


@admin_required
def share_settings(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show the forms."""
    return _page(request, find_share(name), fmt)


def settings_again(
    request: HttpRequest, share: Share, form: forms.Form
) -> HttpResponseBase:
    """Show the forms again, with the errors of that of the name."""
    return _page(request, find_share(share.name), "html", form=form)


def deletion_again(
    request: HttpRequest, share: Share, form: forms.Form
) -> HttpResponseBase:
    """Show the forms again, with the errors of that of the deletion."""
    return _page(request, share, "html", confirm_form=form)


def _page(
    request: HttpRequest,
    share: Share,
    fmt: str,
    *,
    form: forms.Form | None = None,
    confirm_form: forms.Form | None = None,
) -> HttpResponseBase:
    present = {
        "name": share.name,
        "comment": share.comment,
        "description": share.description,
        "listed": share.is_listed,
    }
    shown = {
        **present,
        "in_browser": share.in_browser,
        "plain": share.plain,
        "with_field_ids": share.with_field_ids,
    }
    num_recipients = share.recipients.count()
    return respond(
        request,
        fmt,
        template="sharing/shares/share_settings.html",
        context={
            "share": share,
            "num_recipients": num_recipients,
            "plain_cost": cost_of(share) if fmt == "html" else None,
            "form": form or ShareForm(initial=present),
            "confirm_form": confirm_form,
        },
        data={**shown, "num_recipients": num_recipients},
        status=422 if form or confirm_form else 200,
    )
