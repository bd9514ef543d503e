"""The form of a new recipient, and the states of one."""

from typing import Final, cast

from django import forms

from apps.pages.changes.forms import form_of, lines_of
from apps.sharing.issuing.forms import LifetimeForm
from apps.sharing.recipients.services import NewRecipient

STATES: Final = {
    "active": "active",
    "expiring": "expires soon",
    "expired": "expired",
    "waiting": "never activated",
    "revoked": "revoked",
    "none": "no token",
}


NewRecipientForm = form_of(NewRecipient, LifetimeForm)
"""A recipient with what it reads, from where, and its first token."""


def new_recipient(form: forms.Form) -> NewRecipient:
    """Return the recipient that a valid form asks for."""
    values = form.cleaned_data
    given = {
        name: values[line.name or name] for name, line in lines_of(NewRecipient).items()
    }
    expires = cast("LifetimeForm", form).lifetime_text
    return NewRecipient(**{**given, "expires": expires})
