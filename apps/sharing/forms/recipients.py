"""Forms of recipients and tokens: their shape alone, no database and no clock."""

from collections.abc import Iterable
from typing import Any, Final, cast

from django import forms

from apps.pages.fields import SortField, WordField
from apps.pages.sorting import Column

MAX_PAGE: Final = 1_000_000
CUSTOM: Final = "custom"
COLUMNS: Final = (
    Column(key="name", label="Recipient", word="Name"),
    Column(key="ends", label="Token", word="Token's end"),
    Column(key="shares", label="Shares", descends=True, css="dw-r"),
    Column(key="used", label="Last used", descends=True),
    Column(key="created", label="Newest", descends=True, is_shown=False),
    Column(label="Requests, 30 days", css="dw-only-w"),
)
STATES: Final = {
    "active": "active",
    "expiring": "expires soon",
    "expired": "expired",
    "waiting": "never activated",
    "revoked": "revoked",
    "none": "no token",
}
LIFETIMES: Final = {"7d": "7 days", "30d": "30 days", "90d": "90 days"}
OVERLAPS: Final = {"0": "end them now", "24h": "24 hours", "7d": "7 days"}
DELAYS: Final = {"24h": "24 hours from now", "7d": "7 days from now"}
SPAN_HELP: Final = "Write 45d, 12h or a date such as 2030-12-31."


def lifetime_choices(max_days: int) -> dict[str, str]:
    """Return the presets that a token may live for."""
    fits = {key: int(key.removesuffix("d")) <= max_days for key in LIFETIMES}
    return {key: words for key, words in LIFETIMES.items() if fits[key]}


def first_lifetime(max_days: int) -> dict[str, str]:
    """Return what a form for a token begins with: the longest preset that fits."""
    presets = list(lifetime_choices(max_days))
    if presets:
        return {"lifetime": presets[-1]}
    return {"lifetime": CUSTOM, "until": f"{max_days}d"}


class RecipientListForm(forms.Form):
    """The filter, order and page of the list."""

    q = forms.CharField(max_length=200, required=False)
    state = WordField(STATES)
    sort = SortField(COLUMNS)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


class OnceForm(forms.Form):
    """A form that is heeded once, however often a browser sends it again."""

    once = forms.UUIDField(required=False)


class LifetimeForm(OnceForm):
    """How long a token lives: one of the presets, or a span or date of one's own."""

    lifetime = forms.CharField(max_length=10, initial="90d", required=False)
    until = forms.CharField(max_length=20, required=False, strip=True)

    def clean(self) -> dict[str, Any]:
        """Ask for the span where none of the presets is chosen."""
        cleaned = super().clean() or self.cleaned_data
        known = {*LIFETIMES, CUSTOM}
        if cleaned.get("lifetime") not in known:
            self.add_error("until", "Choose how long the token lives.")
        elif cleaned["lifetime"] == CUSTOM and not cleaned.get("until"):
            self.add_error("until", SPAN_HELP)
        return cleaned

    @property
    def lifetime_text(self) -> str:
        """What `parse_lifetime` reads."""
        return _chosen(self.cleaned_data, "lifetime", "until")


class RotateForm(LifetimeForm):
    """A new token, and how long the ones it replaces stay good."""

    keep = forms.CharField(max_length=10, initial="24h", required=False)
    keep_until = forms.CharField(max_length=20, required=False, strip=True)

    def clean(self) -> dict[str, Any]:
        """Ask for the span where none of the presets is chosen."""
        cleaned = super().clean()
        if cleaned.get("keep") not in {*OVERLAPS, CUSTOM}:
            self.add_error("keep_until", "Choose how long the old tokens stay good.")
        elif cleaned["keep"] == CUSTOM and not cleaned.get("keep_until"):
            self.add_error("keep_until", SPAN_HELP)
        return cleaned

    @property
    def keep_text(self) -> str:
        """What `parse_span` reads."""
        return _chosen(self.cleaned_data, "keep", "keep_until")


class RetireForm(forms.Form):
    """When a retiring token ends."""

    at = forms.CharField(max_length=10, initial="7d", required=False)
    at_until = forms.CharField(max_length=20, required=False, strip=True)

    def clean(self) -> dict[str, Any]:
        """Ask for the span where none of the presets is chosen."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("at") not in {*DELAYS, CUSTOM}:
            self.add_error("at_until", "Choose when the token ends.")
        elif cleaned["at"] == CUSTOM and not cleaned.get("at_until"):
            self.add_error("at_until", SPAN_HELP)
        return cleaned

    @property
    def at_text(self) -> str:
        """What `parse_span` reads."""
        return _chosen(self.cleaned_data, "at", "at_until")


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
        return str(self.cleaned_data["networks"]).replace(",", " ").split()


class SettingsForm(ContactForm, AllowListForm):
    """What may be changed of a recipient."""


class SharesForm(forms.Form):
    """Which shares a recipient reads, by name."""

    shares = forms.MultipleChoiceField(required=False)

    def __init__(self, *args: Any, share_names: Iterable[str], **kwargs: Any) -> None:  # noqa: ANN401 (Django's own)
        super().__init__(*args, **kwargs)
        field = cast("forms.MultipleChoiceField", self.fields["shares"])
        field.choices = [(name, name) for name in share_names]


class NewRecipientForm(SharesForm, ContactForm, AllowListForm, LifetimeForm):
    """A recipient with what it reads, from where, and its first token."""

    name = forms.CharField(
        max_length=255, strip=True, error_messages={"required": "Give it a name."}
    )


class NewReaderForm(LifetimeForm):
    """A recipient that is made together with a share."""

    name = forms.CharField(
        max_length=255, strip=True, error_messages={"required": "Give it a name."}
    )
    contact = forms.CharField(max_length=254, required=False, strip=True)


class DeleteForm(forms.Form):
    """The name again, so that nobody deletes a recipient by a slip."""

    confirm = forms.CharField(
        max_length=255, error_messages={"required": "Type the recipient's name."}
    )


def _chosen(cleaned: dict[str, Any], preset: str, own: str) -> str:
    value = cleaned[own] if cleaned[preset] == CUSTOM else cleaned[preset]
    return str(value)
