"""Forms of tokens, and where forms show a refusal: no database and no clock."""

from collections.abc import Collection
from typing import ClassVar, Final

from django import forms

from apps.sharing.issuing import proofs
from deltaweb.delta.errors import DeltaError

CUSTOM: Final = "custom"
# The field that a refusal is about, by its code.
_FIELDS: Final = {
    "lifetime-invalid": "until",
    "public-key-invalid": "public_key",
    "issuer-invalid": "issuer",
    "client-invalid": "audience",
    "client-taken": "subject",
}
LIFETIMES: Final = {"7d": "7 days", "30d": "30 days", "90d": "90 days"}
OVERLAPS: Final = {"0": "end now", "24h": "24 hours", "7d": "7 days"}
DELAYS: Final = {"24h": "24 hours from now", "7d": "7 days from now"}
CLIENT_KINDS: Final = {
    "client_secret": "a secret",
    "private_key": "a private key",
    "federated": "tokens of an OIDC issuer",
}
REPLACES: Final = {"all": "keep them"} | OVERLAPS
SPAN_HELP: Final = "Enter 45d, 12h or a date such as 2030-12-31."


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


def place_error(form: forms.Form, error: DeltaError) -> None:
    """Put what a service says beside the field that it is about."""
    field = _FIELDS.get(error.code)
    form.add_error(field if field in form.fields else None, str(error))


class OnceForm(forms.Form):
    """A form that is heeded once, however often a browser sends it again."""

    once = forms.UUIDField(required=False)

    # Of a choice of spans: the field of one's own, the presets, what is asked without.
    spans: ClassVar[dict[str, tuple[str, Collection[str], str]]] = {}

    def clean(self) -> None:
        """Ask for a span where none of the presets is chosen."""
        super().clean()
        for choice, (own, presets, question) in self.spans.items():
            chosen = self.cleaned_data.get(choice)
            if chosen not in {*presets, CUSTOM}:
                self.add_error(own, question)
            elif chosen == CUSTOM and not self.cleaned_data.get(own):
                self.add_error(own, SPAN_HELP)

    def span_text(self, choice: str) -> str:
        """Return a span as `parse_span` reads it."""
        chosen = self.cleaned_data[choice]
        return str(
            self.cleaned_data[self.spans[choice][0]] if chosen == CUSTOM else chosen
        )


class LifetimeForm(OnceForm):
    """How long a token lives: one of the presets, or a span or date of one's own."""

    lifetime = forms.CharField(max_length=10, initial="90d", required=False)
    until = forms.CharField(max_length=20, required=False, strip=True)
    spans = {"lifetime": ("until", LIFETIMES, "Choose how long the token is valid.")}

    first: ClassVar[dict[str, str]] = {}  # what is chosen at first, besides
    keep_text = ""  # how long others stay good; empty where none is replaced

    @property
    def lifetime_text(self) -> str:
        return self.span_text("lifetime")

    def proof(self) -> proofs.Proof:
        """Return what its holder proves itself by."""
        return proofs.BEARER


class RotateForm(LifetimeForm):
    """A new token, and how long the ones it replaces stay good."""

    keep = forms.CharField(max_length=10, initial="24h", required=False)
    keep_until = forms.CharField(max_length=20, required=False, strip=True)
    first = {"keep": "24h"}
    spans = LifetimeForm.spans | {
        "keep": ("keep_until", OVERLAPS, "Choose how long the old tokens stay valid.")
    }

    @property
    def keep_text(self) -> str:  # type: ignore[override]  # as chosen
        return self.span_text("keep")


class ClientForm(LifetimeForm):
    """An OAuth client: what it proves itself by, and what becomes of its like."""

    kind = forms.ChoiceField(choices=list(CLIENT_KINDS.items()))
    public_key = forms.CharField(max_length=20_000, required=False)
    issuer = forms.CharField(max_length=500, required=False, strip=True)
    audience = forms.CharField(max_length=500, required=False, strip=True)
    subject = forms.CharField(max_length=500, required=False, strip=True)
    group = forms.CharField(max_length=500, required=False, strip=True)
    keep = forms.ChoiceField(choices=list(REPLACES.items()), required=False)
    first = {"kind": next(iter(CLIENT_KINDS)), "keep": "all"}

    @property
    def keep_text(self) -> str:  # type: ignore[override]  # as chosen
        """What `parse_span` reads; empty where nothing is replaced."""
        keep = str(self.cleaned_data["keep"])
        return "" if keep == "all" else keep

    def proof(self) -> proofs.Proof:
        """Return what the client proves itself by."""
        names = ("kind", "public_key", "issuer", "audience", "subject", "group")
        return proofs.of_kind(**{name: self.cleaned_data[name] for name in names})


class RetireForm(OnceForm):
    """When a retiring token ends."""

    at = forms.CharField(max_length=10, initial="7d", required=False)
    at_until = forms.CharField(max_length=20, required=False, strip=True)
    spans = {"at": ("at_until", DELAYS, "Choose when the token ends.")}

    @property
    def at_text(self) -> str:
        return self.span_text("at")
