"""Requests that no client would send; a caller's mistake is never a fault of ours."""

import json
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.functional.sharing_api.calls import PREFIX, Answer, Caller, Lake, body_of
from tests.support.conditions.drawn_examples import examples

pytestmark = pytest.mark.database

SHARE = st.sampled_from(["Sales", "sales", "SALES", "nope", "", ".", "..", "%", "a/b"])
SCHEMA = st.sampled_from(["crm", "CRM", "x.y", "", "\u212a", "ß", "*"])
TABLE = st.sampled_from(["Orders", "orders", "x" * 300, "", "\0", "ORDERS\n"])
# Whole characters: what is not in a URL cannot be sent.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
RAW = st.binary(max_size=12).map(lambda data: quote(data, safe=""))


@st.composite
def paths(draw: st.DrawFn) -> str:
    """Paths of endpoints and near them, quoted, half quoted, and not."""
    tail = draw(
        st.sampled_from(
            ["", "/version", "/metadata", "/query", "/changes", "/", "//", "/x", "/%"]
        )
    )
    share, schema, table = (
        draw(st.one_of(known.map(quote), TEXT.map(quote), RAW))
        for known in (SHARE, SCHEMA, TABLE)
    )
    return draw(
        st.sampled_from(
            [
                f"/shares{tail}",
                f"/shares/{share}{tail}",
                f"/shares/{share}/schemas{tail}",
                f"/shares/{share}/all-tables{tail}",
                f"/shares/{share}/schemas/{schema}/tables{tail}",
                f"/shares/{share}/schemas/{schema}/tables/{table}{tail}",
                f"/shares/Sales/schemas/crm/tables/Orders{tail}",
                f"/files/{share}/00000000-0000-4000-8000-000000000000/{table}",
                f"/{share}/{schema}{tail}",
            ]
        )
    )


VALUES = st.one_of(
    TEXT.map(quote),
    RAW,
    st.integers().map(str),
    st.sampled_from(
        [
            *("0", "-0", "1e9", "9" * 400, "NaN", "null", "true", "[]"),
            *("2026-02-01T00:00:00Z", "2026-02-01T00:00:00", "0000-00-00T00:00:00Z"),
            *("%00", "%zz", "%", "2026-02-01T24:00:00%2B99:99", "+", "&", "="),
        ]
    ),
)
NAMES = st.sampled_from(
    ["maxResults", "pageToken", "version", "timestamp", "startingTimestamp", "se", "x"]
)
QUERIES = st.lists(st.tuples(NAMES, VALUES), max_size=4).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)

JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        *("predicateHints", "jsonPredicateHints", "limitHint", "version"),
        *("timestamp", "startingVersion", "maxFiles", "pageToken", "unknown"),
    ]
)
HINTS = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                *("day = '2026-01-02'", "day = ", "((((", "id IN (1,2", "NULL", "1=1"),
                *("day = 'it''s'", "CAST(day AS", "`day` > DATE 'x'", "\ud800 = 1"),
                "(" * 3000 + "id" + ")" * 3000,
            ]
        ),
    ),
    max_size=4,
)
BODIES = st.one_of(
    st.binary(max_size=200),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(FIELDS, JSON, max_size=4).map(
        lambda value: json.dumps(value).encode()
    ),
    HINTS.map(lambda hints: json.dumps({"predicateHints": hints}).encode()),
    st.text(max_size=80).map(
        lambda text: json.dumps({"jsonPredicateHints": text}).encode()
    ),
    st.sampled_from([b"", b"{}", b"{" * 5000, b'{"a":' * 5000, b"\xef\xbb\xbf{}"]),
)
METHODS = st.sampled_from(
    ["GET", "GET", "POST", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "X"]
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            *("Accept", "Content-Type", "delta-sharing-capabilities", "Range"),
            *("X-Forwarded-For", "User-Agent", "Accept-Encoding", "If-Range", "Host"),
            *("Cookie", "Content-Encoding", "Transfer-Encoding", "fileidhash"),
        ]
    ),
    st.one_of(
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
        st.sampled_from(
            [
                *("bytes=0-1", "bytes=-", "application/x-ndjson", "text/html;q=x"),
                *(
                    "responseformat=delta",
                    "responseformat=parquet;=;",
                    "gzip",
                    "chunked",
                ),
                *("127.0.0.1", "[::1", "multipart/form-data", "1.2.3.4, 5.6.7.8"),
            ]
        ),
    ),
    max_size=4,
)
AUTHORIZATIONS = st.sampled_from(["good", "good", "good", "wrong", "Basic x", ""])


@dataclass(frozen=True)
class Sent:
    """A request, and what it claims to be let in by."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    authorization: str


REQUESTS = st.builds(
    Sent,
    method=METHODS,
    path=paths(),
    query=QUERIES,
    headers=HEADERS,
    body=BODIES,
    authorization=AUTHORIZATIONS,
)


def send(caller: Caller, sent: Sent) -> Answer:
    """Send a request as it is."""
    headers = dict(sent.headers)
    if sent.authorization == "good":
        headers["Authorization"] = f"Bearer {caller.secret}"
    elif sent.authorization:
        headers["Authorization"] = sent.authorization
    target = f"{PREFIX}{sent.path}?{sent.query}"
    return caller.client.generic(sent.method, target, data=sent.body, headers=headers)


@settings(max_examples=examples(60))
@given(sent=REQUESTS)
def test_are_answered_in_json_and_never_as_a_fault(acme, lake, sent):
    del lake
    answer = send(acme, sent)

    content = body_of(answer)
    assert answer.status_code < 500
    assert answer.status_code not in {301, 302, 307, 308}
    kind = answer.headers["Content-Type"]
    assert kind.startswith(("application/json", "application/x-ndjson"))
    if answer.status_code >= 400 and sent.method != "HEAD":
        assert set(json.loads(content)) == {"errorCode", "message"}
    if sent.method == "HEAD":
        assert content == b""
    assert acme.secret.encode() not in content


@pytest.mark.parametrize("body", ["{}", '{"predicateHints": ["' + "(" * 4000 + '"]}'])
def test_deep_hints_are_skipped(acme: Caller, lake: Lake, body: str) -> None:
    answer = acme.ask("POST", f"{lake.path}/query", body.encode())

    assert answer.status_code == 200
    assert len(body_of(answer).splitlines()) == 5
