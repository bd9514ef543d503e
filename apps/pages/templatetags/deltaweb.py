"""Icons, sizes, numbers and times as pages show them."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import cache, lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from django import template
from django.conf import settings
from django.template import Context, Node, Variable, defaulttags
from django.template.base import FilterExpression, Parser, TextNode, Token
from django.template.defaulttags import URLNode
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from apps.pages.lists import links
from apps.pages.lists.days import day_text
from apps.pages.request import server_paths
from deltaweb.words import compact_text, counted, cut, size_text

register = template.Library()

UNKNOWN = "unknown"
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
WEEK_DAYS, TEN, HUNDRED = 7, 10, 100
_SYMBOL: Final = re.compile(
    r'<symbol id="i-([^"]+)" viewBox="0 0 24 24">(.*?)</symbol>', re.DOTALL
)
# A text may be NULL or null too: what is read aloud tells them apart.
NO_VALUE = mark_safe(
    '<span class="c-null" role="img" aria-label="no value">NULL</span>'
)


class IconNode(Node):
    """An icon whose name, or class, the page's context tells."""

    def __init__(self, words: Sequence[FilterExpression]) -> None:
        self.words = words

    def render(self, context: Context) -> SafeString:
        """Draw it."""
        return drawing(*(word.resolve(context) for word in self.words))


@register.tag
def icon(parser: Parser, token: Token) -> Node:
    """Draw an icon of the sprite; a word beside it says what it means.

    A page has dozens: those that a template names are drawn when it is loaded.
    """
    words = [parser.compile_filter(word) for word in token.split_contents()[1:]]
    node = IconNode(words)
    if any(isinstance(word.var, Variable) for word in words):
        return node
    return TextNode(node.render(Context()))


@register.tag
def unknown(_parser: Parser, _token: Token) -> Node:
    """Draw the dash of an unknown figure; a list has dozens of them."""
    return TextNode(
        f'<span class="dw-3" title="{UNKNOWN}"><span aria-hidden="true">–</span>'
        f'<span class="visually-hidden">{UNKNOWN}</span></span>'
    )


@cache
def drawing(name: str, css: str = "") -> SafeString:
    """Return an icon as it stands in a page.

    Shapes of another file would come after the first paint, and the browser would lay
    out and paint the page once more for them.
    """
    return format_html(
        '<svg class="dw-i {}" viewBox="0 0 24 24" aria-hidden="true">{}</svg>',
        css,
        _shapes().get(name, ""),
    )


@cache
def _shapes() -> dict[str, SafeString]:
    """Return what each icon is drawn by: its lines are one, which is the shortest."""
    path = settings.SITE / "static" / "vendor" / "icons.svg"
    sprite = re.sub(r'" />\s*<path d="(?=M)', "", path.read_text(encoding="utf-8"))
    shapes = _SYMBOL.findall(sprite)
    return {name: mark_safe(drawn) for name, drawn in shapes}  # noqa: S308 (our own)


class KeptURLNode(URLNode):
    """Django's `url`, whose addresses are kept: a page asks for dozens of them."""

    def render(self, context: Context) -> str:
        """Return the address; what is called for seldom is made by Django."""
        if self.asvar or self.kwargs or not context.autoescape:
            return super().render(context)
        args = [arg.resolve(context) for arg in self.args]
        return _address(get_script_prefix(), self.view_name.resolve(context), *args)


@register.tag
def url(parser: Parser, token: Token) -> Node:
    """Return the address of a view, as Django's tag of this name does."""
    made = defaulttags.url(parser, token)
    return KeptURLNode(made.view_name, made.args, made.kwargs, made.asvar)


@lru_cache(maxsize=4096, typed=True)
def _address(prefix: str, name: str, *args: object) -> SafeString:
    """Return an address below a prefix, which `reverse` puts before it."""
    del prefix
    return escape(reverse(name, args=args))


@register.simple_tag
def no_value() -> SafeString:
    """Draw a null, which is no text: it is called so where it is not seen."""
    return NO_VALUE


@register.filter
def place_for_reader(location: str) -> str:
    """Name where a table lies: without folders of the server for who only reads."""
    return server_paths.place_for_reader(location)


@register.filter
def is_shown(location: str) -> bool:
    """Whether the place of a table is said as it is."""
    return server_paths.place_for_reader(location) == location


@register.filter
def text_for_reader(text: str | None, place: str | None = "") -> str:
    """Say what went wrong: without folders of the server for who only reads."""
    return server_paths.text_for_reader(text or "", place or "")


@register.filter(is_safe=True)
def shortened(text: object, length: int) -> str:
    """Return a text of at most `length` characters, the last an ellipsis if cut.

    Django's `truncatechars`, which looks at each character, takes twenty times as long.
    """
    return cut(str(text), length)


@register.filter
def size(size_bytes: int | None) -> str:
    """Render bytes by powers of 1024: 5.5 GiB."""
    if size_bytes is None:
        return UNKNOWN
    return size_text(round(size_bytes))  # an average is a fraction


@register.filter
def compact(count: int | None) -> str:
    """Render a count in three digits or so: 18.4 M."""
    if count is None:
        return UNKNOWN
    return compact_text(round(count))


@register.filter
def exact(count: int | None) -> str:
    """Render a count with all its digits: 1,284."""
    return UNKNOWN if count is None else f"{count:,}"


@register.filter
def percent(value: float, digits: int = 1) -> str:
    """Render a part of a hundred: 12.5.

    Only all is 100, and only nothing is 0, however close a part comes to them.
    """
    step = 10**-digits
    shown = min(max(value, step), HUNDRED - step) if 0 < value < HUNDRED else value
    return f"{shown:.{digits}f}"


@register.filter
def signed(count: int | None) -> str:
    """Render a change with its sign: +1,284."""
    return UNKNOWN if count is None else f"{count:+,}".replace("-", "−")


def relative(moment: datetime, now: datetime) -> str:
    """Return how long ago `moment` was, as a person says it."""
    seconds = (now - moment).total_seconds()
    if seconds < -MINUTE_S:
        return f"in {_span(-seconds)}"
    if seconds < TEN:
        return "just now"
    return f"{_span(seconds)} ago"


def _span(seconds: float) -> str:
    if seconds < MINUTE_S:
        return f"{int(seconds)} s"
    if seconds < HOUR_S:
        return f"{int(seconds / MINUTE_S)} min"
    if seconds < DAY_S:
        return f"{int(seconds / HOUR_S)} h"
    days = int(seconds / DAY_S)
    if days < 2 * WEEK_DAYS:
        return f"{days} d"
    if days < 365:  # noqa: PLR2004 (a year)
        return f"{days // WEEK_DAYS} weeks"
    years = days // 365
    return counted(years, "year")


@register.filter
def calendar_day(value: date | None) -> str:
    """Render a day as every page writes it: 20 Nov 2026."""
    return "" if value is None else day_text(value)


@register.simple_tag(takes_context=True)
def ago(context: Context, moment: datetime | None) -> SafeString | str:
    """Render a moment as relative; its title has it in the reader's time zone."""
    if moment is None:
        return "never"
    iso, title = moment.astimezone(UTC).isoformat(), absolute(moment, _zone(context))
    return time_element(iso, relative(moment, timezone.now()), title)


@register.simple_tag(takes_context=True)
def when(context: Context, moment: datetime | None) -> SafeString | str:
    """Render a moment in the reader's time zone, the zone shown."""
    if moment is None:
        return "never"
    text = absolute(moment, _zone(context))
    return time_element(moment.astimezone(UTC).isoformat(), text)


def time_element(iso: str, text: str, title: str = "") -> SafeString:
    """Return a moment as HTML: what is said of it holds no character that HTML reads.

    Lists have hundreds of them, and `format_html` takes twice as long.
    """
    titled = f' title="{title}"' if title else ""
    return mark_safe(f'<time datetime="{iso}"{titled}>{text}</time>')  # noqa: S308 (of numbers and our words)


@register.simple_tag(takes_context=True)
def page_with(context: Context, **values: object) -> str:
    """Return this page's address with other values, from its first page on.

    It ends in no bare `?` where none is left, as `querystring` does.
    """
    return links.changed(context["request"], **{"page": None, "before": None, **values})


@register.simple_tag(takes_context=True)
def query_part(context: Context) -> str:
    """Return this page's query with its `?`, or nothing."""
    query = context["request"].GET.urlencode()
    return f"?{query}" if query else ""


@register.simple_tag(takes_context=True)
def machine_form(context: Context, suffix: str) -> str:
    """Return the address of this page's `json` or `csv` form, same filters."""
    return links.machine_form(context["request"], suffix)


def absolute(moment: datetime, zone: tzinfo = UTC) -> str:
    """Return date, time and zone: 21 Nov 2026 12:30:05 UTC."""
    local = moment.astimezone(zone)
    return f"{day_text(local)} {local:%H:%M:%S} {local.tzname()}"


def _zone(context: Context) -> tzinfo:
    # A part that is included with `only` some values still belongs to a request.
    request = context.get("request") or getattr(context, "request", None)
    user = getattr(request, "user", None)
    return ZoneInfo(getattr(user, "time_zone", "UTC") or "UTC")
