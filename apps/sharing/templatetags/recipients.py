"""Moments, agents and states of recipients and tokens, as their pages say them."""

import re
from datetime import UTC, datetime
from typing import Final

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.news.mails import mail_is_set_up
from apps.pages.lists.days import day_text
from apps.pages.templatetags.deltaweb import absolute, relative
from apps.sharing.models import RecipientToken
from apps.sharing.recipients.token_states import TokensState

register = template.Library()

DAY_S: Final = 86_400
HOUR_S: Final = 3600
_PRODUCT: Final = re.compile(r"\s*([A-Za-z][\w.-]{0,60})/(\d[\w.+-]{0,30})")
_BROWSER: Final = "Mozilla"

State = RecipientToken.State


@register.simple_tag
def browser_reading() -> bool:
    """Return whether the server lets recipients read in the browser."""
    return bool(settings.BROWSER_READING)


@register.simple_tag
def mail_relay() -> bool:
    """Return whether the server can send mail."""
    return mail_is_set_up()


CHIPS: Final = {
    State.ACTIVE: ("is-green", "circle-check"),
    State.RETIRING: ("is-amber", "hourglass"),
    State.WAITING: ("", "mail"),
    State.EXPIRED: ("", "clock"),
    State.REVOKED: ("is-red", "ban"),
}
OVER_LIMIT: Final = {"css": "is-red", "icon": "ban", "label": "over its limit"}
RECIPIENT_CHIPS: Final = {
    "active": ("is-green", "circle-check", "active"),
    "expiring": ("is-amber", "hourglass", "expires"),
    "expired": ("", "clock", "expired"),
    "waiting": ("", "mail", "never activated"),
    "revoked": ("is-red", "ban", "revoked"),
    "none": ("", "minus", "no token"),
}


@register.inclusion_tag("sharing/_chip.html")
def token_chip(
    state: RecipientToken.State, recipient: TokensState | str = ""
) -> dict[str, str]:
    """Draw the state of a token: a word and a shape, besides the colour.

    Args:
        recipient: How its recipient's tokens stand; "" if that is not known here.
    """
    is_over_limit = isinstance(recipient, TokensState) and recipient.is_over_limit
    if is_over_limit and state in {State.ACTIVE, State.RETIRING}:
        return OVER_LIMIT
    css, icon = CHIPS[state]
    return {"css": css, "icon": icon, "label": str(state.label)}


@register.inclusion_tag("sharing/_chip.html")
def recipient_chip(state: TokensState) -> dict[str, str]:
    """Draw how the tokens of a recipient stand."""
    if state.is_good and state.is_over_limit:
        return OVER_LIMIT
    css, icon, label = RECIPIENT_CHIPS[state.key]
    if state.key == "expiring" and state.ends_at is not None:
        label = f"expires {time_left(state.ends_at)}"
    return {"css": css, "icon": icon, "label": label}


@register.filter
def day(moment: datetime | None) -> SafeString | str:
    """Render the day of a moment in UTC: 13 Nov, with the year when it is another."""
    if moment is None:
        return "never"
    utc = moment.astimezone(UTC)
    text = f"{utc.day} {utc:%b}"
    if utc.year != timezone.now().year:
        text += f" {utc.year}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        utc.isoformat(),
        absolute(moment),
        text,
    )


@register.filter
def long_day(moment: datetime) -> str:
    """Render day and time in words: 27 Nov 2026 at 09:00 UTC."""
    utc = moment.astimezone(UTC)
    return f"{day_text(utc)} at {utc:%H:%M} UTC"


@register.filter
def time_left(moment: datetime) -> str:
    """Say how far ahead a moment is: in 81 d; how long ago when it is over."""
    seconds = (moment - timezone.now()).total_seconds()
    if seconds >= 2 * DAY_S:
        return f"in {round(seconds / DAY_S)} d"
    if seconds >= HOUR_S:
        return f"in {round(seconds / HOUR_S)} h"
    if seconds > 0:
        return f"in {max(1, int(seconds / 60))} min"
    return relative(moment, timezone.now())


@register.filter
def agent(user_agent: str) -> str:
    """Render what a client calls itself: `Delta-Sharing-Python/1.4.2 ...`, shortly."""
    product = _PRODUCT.match(user_agent)
    if product is None:
        return user_agent[:60]
    return "a browser" if product[1] == _BROWSER else f"{product[1]} {product[2]}"
