"""The form of a new recipient, and the states of one."""

from typing import Final

from apps.pages.changes.forms import form_of
from apps.pages.request.changes import ChangeForm
from apps.sharing.recipients.services import NewRecipient

STATES: Final = {
    "active": "active",
    "expiring": "expires soon",
    "expired": "expired",
    "waiting": "never activated",
    "revoked": "revoked",
    "none": "no token",
}
NewRecipientForm = form_of(NewRecipient, ChangeForm)
"""A recipient with what it reads, from where, and its first token."""
