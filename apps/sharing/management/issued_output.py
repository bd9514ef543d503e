"""How commands answer with a token or an OAuth client that they have just made."""

from datetime import datetime
from pathlib import Path

from deltaweb.web.pages.command import Output
from deltaweb.web.sharing.issuing.token_rows import token_row
from deltaweb.web.sharing.issuing.tokens import Credentials
from deltaweb.web.sharing.management import oauth_clients, sharing_output
from deltaweb.web.sharing.models import RecipientToken
from deltaweb.web.tables.management.text_output import time_text


def issued(made: Credentials, profile: str | None, *, now: datetime) -> Output:
    """Answer with the link of a new token, or with the file of its profile."""
    token = made.token
    token.refresh_from_db()
    path = None if profile is None else Path(profile).expanduser()
    data = {
        **sharing_output.recipient_json(token.recipient, now=now),
        "token": token_row(token, now=now),
        "activation_url": made.link or None,
        "activation_expires_at": made.link_expires_at,
        "profile": None if path is None else str(path.resolve()),
    }
    if token.kind in RecipientToken.OPEN_KINDS:
        data["profile_document"] = oauth_clients.open_profile(token)
    recipient, ends = token.recipient.name, time_text(token.ends_at)
    if path is not None:
        text = f"Wrote the profile of {recipient} to {path}. The token ends {ends}."
        return Output(data, text)
    if not made.link:
        return Output(data, *oauth_clients.client_lines(token))
    note = (
        f"The link works once, until {time_text(made.link_expires_at)}. Send it to "
        f"{recipient}; the token ends {ends}."
    )
    return Output(data, made.link, ["", note])
