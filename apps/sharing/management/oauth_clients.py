"""OAuth clients on the command line: what is asked of them, and how they are told."""

import json
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from deltaweb.web.pages.command import argument
from deltaweb.web.sharing.issuing import proofs
from deltaweb.web.sharing.issuing.profile import profile_of
from deltaweb.web.sharing.issuing.proofs import Proof
from deltaweb.web.sharing.models import RecipientToken
from deltaweb.web.tables.management.text_output import time_text

Kind = RecipientToken.Kind
# What a client proves itself by; without any, it is a secret.
PROOF: Final = (
    argument(
        "--public-key", metavar="FILE", help="PEM: it signs by the private key of this"
    ),
    argument(
        "--issuer", default="", metavar="URL", help="an OIDC issuer vouches for it"
    ),
    argument("--audience", default="", help="for whom the issuer's tokens are"),
    argument("--subject", default="", help="about whom they are, or else"),
    argument("--group", default="", help="which of their groups it is"),
)


def proof_of(
    *,
    public_key: str | None,
    issuer: str,
    audience: str,
    subject: str,
    group: str,
) -> Proof:
    """Return the proof that the options describe."""
    if not issuer and (audience or subject or group):
        message = "--audience, --subject and --group go with --issuer."
        raise CommandError(message, returncode=2)
    if issuer and public_key:
        message = "Give --public-key or --issuer: a client has one proof."
        raise CommandError(message, returncode=2)
    if issuer:
        return proofs.by_issuer(
            issuer=issuer, audience=audience, subject=subject, group=group
        )
    if public_key is None:
        return proofs.CLIENT_SECRET
    path = Path(public_key).expanduser()
    try:
        return proofs.by_key(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text"
        message = f"{path} cannot be read: {reason}."
        raise CommandError(message) from error


def open_profile(token: RecipientToken) -> dict[str, Any]:
    """Return the profile of a client that has no secret here."""
    document: dict[str, Any] = json.loads(profile_of(token).to_json())
    return document


def client_lines(token: RecipientToken) -> tuple[str, list[str]]:
    """Return what is said of a client that has no secret here."""
    name, ends = token.recipient.name, time_text(token.ends_at)
    text = f"{name} comes in as {token.prefix} until {ends}."
    if token.kind == Kind.FEDERATED:
        note = f"Its profile, once it has filled in what {token.issuer} gave it:"
    else:
        note = "Its profile, with the path of its private key; nothing in it is secret:"
    return text, ["", note, "", *profile_of(token).to_json().splitlines()]
