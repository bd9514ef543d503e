"""What one recipient lists and gets, request by request, as the server answers it.

The very code that answers recipients is asked, for a token that nobody holds: it is
never stored, and has ended when it begins, so that no URL of these answers works.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final, ParamSpec, TypeVar
from urllib.parse import quote

from apps.pages.page_json import As, OnPage, Spread
from apps.sharing.access import callers as access
from apps.sharing.access.grants.rules import ShownRule, rule_for
from apps.sharing.access.withdrawals import LISTED, offer_state, with_parts
from apps.sharing.activity.budgets import over_limit
from apps.sharing.answers import listings, tables
from apps.sharing.answers.signed_lines import SigningPlan
from apps.sharing.api.errors import failure_of
from apps.sharing.api.keys import signing_plan
from apps.sharing.issuing.tokens import token_of_nobody
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.recipients.token_states import TokensState, with_tokens_state
from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.response_format import IN_DELTA
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire import delta, parquet
from deltaweb.words import bytes_text, counted

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

MAX_LISTED: Final = 100
MAX_NAMED: Final = 12  # in a line for people
TABLES_A_PAGE: Final = 10
IN_PARQUET: Final = Capabilities((parquet.NAME,))
BY_DELTA: Final = Capabilities(
    (delta.NAME,), frozenset(feature.lower() for feature in IN_DELTA)
)
"""A client of today, which reads all that the delta format carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAnswer:
    """A request of the protocol, and the answer.

    Attributes:
        request: The method, and the path below the endpoint.
        asked_format: The format that the client requests; null if it does not matter.
        status: The HTTP status.
        error_code: The `errorCode` of the answer; null if it was not refused.
        message: The sentence of a refusal.
        version: The version in the answer.
        num_files: The number of files whose URLs are issued.
        columns: The columns in the metadata.
    """

    request: str
    asked_format: str | None = None
    status: int = HTTPStatus.OK
    error_code: str | None = None
    message: str | None = None
    names: list[str] | None = None
    version: int | None = None
    num_files: int | None = None
    size_bytes: int | None = None
    columns: list[str] | None = None

    @property
    def is_refused(self) -> bool:
        return self.error_code is not None

    @property
    def summary(self) -> str:
        """What is answered, in words."""
        if self.is_refused:
            return f"{self.error_code}: {self.message}"
        parts = []
        if self.names is not None:
            parts.append(some_of(self.names) or "an empty list")
        if self.version is not None:
            parts.append(f"version {self.version}")
        if self.columns is not None:
            parts.append(some_of(self.columns))
        if self.num_files is not None and self.size_bytes is not None:
            parts.append(counted(self.num_files, "file"))
            parts.append(bytes_text(self.size_bytes, digits=3))
        return ", ".join(parts) or "it is there"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTable:
    """A table that a recipient lists.

    Attributes:
        name: The name as `share.schema.table`.
        formats: The response formats in which the recipient can read the table.
        answers: The answer to each request for the table.
    """

    name: str
    rule: Spread[ShownRule]
    formats: list[str]
    answers: list[SeenAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What is granted, and not seen all the same."""

    name: str
    reason: str


def some_of(names: list[str]) -> str:
    """Return the first names, and how many there are beside them, for people."""
    more = len(names) - MAX_NAMED
    shown = ", ".join(names[:MAX_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _key_of(state: TokensState) -> str:
    return state.key


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenByRecipient:
    """What a recipient sees: its lists, and a page of the tables of one share.

    Attributes:
        tokens: The state of its tokens; without a valid token, every request is
            refused.
        shares: The names of its shares, `MAX_LISTED` at most.
        share: The share that is shown; null if there is none.
        answers: The answers to requests for lists.
        withheld: Shares that are off, and tables of the share that are withdrawn.
        next_page_token: The token of the next page of tables; null on the last page.
    """

    recipient: str
    tokens: Annotated[TokensState, As(_key_of)]
    shares: OnPage[list[str]]
    share: str | None
    answers: list[SeenAnswer]
    tables: list[SeenTable]
    withheld: list[Withheld]
    next_page_token: str | None

    @property
    def all_answers(self) -> Iterator[SeenAnswer]:
        """Every answer, in the order of the requests."""
        yield from self.answers
        for table in self.tables:
            yield from table.answers


def stand_in(recipient: Recipient, *, now: datetime) -> SigningPlan:
    """Return what answers to a recipient are made from, for a token of nobody."""
    return signing_plan(token_of_nobody(recipient, now=now), now=now)


def see_as(
    signing: SigningPlan, *, share: str | None = None, page_token: str = ""
) -> SeenByRecipient:
    """Return what the recipient of a plan sees.

    Args:
        signing: What answers are made from, as `stand_in` has it.
        share: The share to look at; the first one for None.
        page_token: Where the page of tables begins; "" for the first.
    """
    recipient = signing.token.recipient
    asked = listings.PageRequest(keys=signing.token_keys, max_results=MAX_LISTED)
    first, _ = _listed("/shares", partial(listings.list_shares, recipient, asked=asked))
    shares = first.names or []
    if share is None and shares:
        share = shares[0]
    answers, page, found = [first], None, None
    if share is not None:
        path = f"/shares/{quote(share, safe='')}"
        answer, found = _asked(f"GET {path}", access.granted_share, recipient, share)
        answers.append(answer)
    if found is not None:
        schemas = partial(listings.list_schemas, recipient, found, asked=asked)
        answers.append(_listed(f"{path}/schemas", schemas)[0])
        asked = replace(asked, max_results=TABLES_A_PAGE, page_token=page_token)
        everything = partial(listings.list_all_tables, recipient, found, asked=asked)
        path += f"/all-tables?maxResults={TABLES_A_PAGE}"
        answer, page = _listed(path, everything)
        answers.append(answer)
    return SeenByRecipient(
        recipient=recipient.name,
        tokens=_tokens(recipient, now=signing.now),
        shares=shares,
        share=share,
        answers=answers,
        tables=[_table(item, signing) for item in page.items] if page else [],
        withheld=list(_withheld(recipient, found)),
        next_page_token=page.next_page_token if page else None,
    )


# === Tables ===


def _table(item: listings.Item, signing: SigningPlan) -> SeenTable:
    """Ask for a table that a list has named."""
    recipient, now = signing.token.recipient, signing.now
    share, schema, name = (str(item[key]) for key in ("share", "schema", "name"))
    shared = access.granted_table(recipient, share, schema, name)
    rule = rule_for(shared, recipient)
    path = "/".join(quote(one, safe="") for one in (share, "schemas", schema))
    path = f"/shares/{path}/tables/{quote(name, safe='')}"
    answered, version = _asked(
        f"GET {path}/version", tables.table_version, shared, recipient, now=now
    )
    answers = [replace(answered, version=version)]
    metadata, lines = _asked(
        f"GET {path}/metadata",
        partial(tables.table_metadata, capabilities=BY_DELTA),
        shared,
        recipient,
        now=now,
    )
    if lines is not None:
        columns = _columns(lines.lines)
        metadata = replace(metadata, version=lines.version, columns=columns)
    answers.append(replace(metadata, asked_format=delta.NAME))
    for capabilities in (IN_PARQUET, BY_DELTA):
        (asked_format,) = capabilities.response_formats
        answer, files = _asked(
            f"POST {path}/query",
            partial(tables.table_files, capabilities=capabilities, signing=signing),
            shared,
            TableQuery(),
        )
        if files is not None:
            answer = replace(
                answer,
                version=files.version,
                num_files=files.num_files,
                size_bytes=files.size_bytes,
            )
        answers.append(replace(answer, asked_format=asked_format))
    return SeenTable(
        name=f"{share}.{schema}.{name}",
        rule=rule.shown,
        formats=[
            one.asked_format
            for one in answers
            if one.asked_format is not None and one.num_files is not None
        ],
        answers=answers,
    )


def _columns(lines: bytes) -> list[str]:
    """Return the columns that lines of protocol and metadata tell."""
    metadata = json.loads(lines.splitlines()[1])["metaData"]
    schema = metadata.get("deltaMetadata", metadata)["schemaString"]
    return [field["name"] for field in json.loads(schema)["fields"]]


# === Around them ===


def _asked(
    request: str,
    answer: Callable[Asked, Answer],
    /,
    *arguments: Asked.args,
    **named: Asked.kwargs,
) -> tuple[SeenAnswer, Answer | None]:
    """Return how a request is answered, and with what; None where it is refused."""
    try:
        return SeenAnswer(request=request), answer(*arguments, **named)
    except DeltaError as error:
        failure = failure_of(error)
        refused = SeenAnswer(
            request=request,
            status=failure.status,
            error_code=failure.error_code,
            message=failure.message,
        )
        return refused, None


def _listed(
    path: str, answer: Callable[[], listings.Page]
) -> tuple[SeenAnswer, listings.Page | None]:
    answered, page = _asked(f"GET {path}", answer)
    if page is None:
        return answered, None
    names = [
        ".".join(str(item[key]) for key in ("schema", "name") if key in item)
        for item in page.items
    ]
    return replace(answered, names=names), page


def _tokens(recipient: Recipient, *, now: datetime) -> TokensState:
    one = with_tokens_state(Recipient.objects.filter(id=recipient.id), now=now).get()
    return TokensState(
        key=one.state,
        ends_at=one.ends_at,
        is_over_limit=bool(over_limit([recipient], now=now)),
    )


def _withheld(recipient: Recipient, share: Share | None) -> Iterator[Withheld]:
    """Yield what is granted and not listed, `MAX_LISTED` of each kind at most."""
    for off in recipient.shares.filter(off_since__isnull=False)[:MAX_LISTED]:
        yield Withheld(name=off.name, reason="the share is off")
    if share is None:
        return
    listed = SharedTable.objects.filter(LISTED, share=share).values("id")
    withdrawn = with_parts(share.shared_tables.exclude(id__in=listed))
    for shared in withdrawn.select_related("table", "from_schema")[:MAX_LISTED]:
        name = f"{share.name}.{shared.full_name}"
        yield Withheld(name=name, reason=offer_state(shared).reason)
