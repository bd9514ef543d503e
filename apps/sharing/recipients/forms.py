"""Forms of recipients: their shape alone, no database and no clock."""

from collections.abc import Iterable
from typing import Any, Final, cast

from django import forms

from apps.pages.request.changes import CheckBoxesField
from apps.sharing.access.networks import split_networks
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


class ContactForm(forms.Form):
    """How to reach a recipient, and a note about it."""

    contact = forms.CharField(max_length=254, required=False, strip=True)
    comment = forms.CharField(max_length=10_000, required=False)


class AllowListForm(forms.Form):
    """The networks that a recipient may come from, one a line."""

    networks = forms.CharField(max_length=20_000, required=False)

    @property
    def network_texts(self) -> list[str]:
        """The networks, as they were typed."""
        return split_networks(str(self.cleaned_data["networks"]))


class PropertiesForm(forms.Form):
    """What conditions call recipient.<key>, as key=value, one a line."""

    properties = forms.CharField(max_length=20_000, required=False)

    @property
    def property_texts(self) -> list[str]:
        """The properties, as they were typed."""
        lines = str(self.cleaned_data["properties"]).splitlines()
        return [line for line in lines if line.strip()]


class SharesForm(forms.Form):
    """Which shares a recipient reads, by name."""

    shares = CheckBoxesField(required=False)

    def __init__(self, *args: Any, share_names: Iterable[str], **kwargs: Any) -> None:  # noqa: ANN401 (Django's own)
        super().__init__(*args, **kwargs)
        field = cast("forms.MultipleChoiceField", self.fields["shares"])
        field.choices = [(name, name) for name in share_names]


class NewReaderForm(LifetimeForm):
    """A recipient that is made together with a share."""

    name = forms.CharField(
        max_length=255, strip=True, error_messages={"required": "Enter a name."}
    )
    contact = forms.CharField(max_length=254, required=False, strip=True)


class NewRecipientForm(
    NewReaderForm, SharesForm, ContactForm, AllowListForm, PropertiesForm
):
    """A recipient with what it reads, from where, and its first token."""

    def new_recipient(self) -> NewRecipient:
        """Return what is to be made."""
        names = ("name", "shares", "contact", "comment")
        return NewRecipient(
            **{name: self.cleaned_data[name] for name in names},
            allowed_networks=self.network_texts,
            properties=self.property_texts,
            expires=self.lifetime_text,
        )
