"""One look at a provider takes no more than it may, whatever the answers are."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.received import budget
from deltaweb.storage.received.errors import (
    ProviderAnswerError,
    ProviderHostError,
    ProviderLimitError,
    ProviderSlowError,
)
from deltaweb.storage.received.mirror import Mirror
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.profile import location_of
from deltaweb.storage.received.store import ReceivedTableStore
from deltaweb.storage.received.transport import Transport
from deltaweb.table import DeltaTable
from tests.support.stores.hostile_provider import TABLE, Hostile, hostile_running
from tests.support.stores.sharing_provider import HERE
from tests.unit.deltaweb.storage.received.test_mirror import shares

AGAIN = "repeats a page"


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with hostile_running() as found:
        yield found


def look(hostile: Hostile, folder: Path, **bounds: float) -> None:
    """Bring a mirror up to date, by one look."""
    client = hostile.provider.client(**bounds)
    mirror = Mirror(
        folder,
        root="received://acme/s/c/t",
        client=client,
        table=TABLE,
        provider="acme",
    )
    mirror.refresh(now_ms=5000)


@pytest.mark.parametrize("part", [b"x", b"X-More: of it\r\n", b"X"])
def test_a_look_ends_where_its_time_is_over(
    hostile: Hostile, tmp_path: Path, part: bytes
) -> None:
    hostile.drips(hostile.version_path, part)

    with pytest.raises(ProviderLimitError, match=r"longer than 0\.3 seconds") as caught:
        look(hostile, tmp_path, seconds=0.3)

    assert caught.value.code == "provider-limit"
    assert "acme" in caught.value.message


def test_the_requests_of_a_look_share_its_time(hostile: Hostile) -> None:
    hostile.is_at(1)
    hostile.drips(hostile.query_path)
    client = hostile.provider.client(seconds=0.3)
    assert client.version(TABLE) == 1

    with pytest.raises(ProviderLimitError):
        client.files(TABLE, lambda answer: list(answer.lines))
    with pytest.raises(ProviderLimitError):
        client.version(TABLE)

    assert client.begin_look().version(TABLE) == 1
    assert sum("/version" in one for one in hostile.provider.asked) == 2


def waiting_store(hostile: Hostile, folder: Path, waits_s: float) -> ReceivedTableStore:
    options = {
        **hostile.provider.profile.fields(),
        "allowed_hosts": HERE,
        "mirror": str(folder),
        "look_bounds": {"waits_s": waits_s},
    }
    return ReceivedTableStore(location_of("acme", TABLE), options)


def test_a_person_waits_for_a_look_no_longer_than_given(
    hostile: Hostile, tmp_path: Path
) -> None:
    hostile.drips(hostile.version_path)

    with pytest.raises(ProviderSlowError, match=r"ended after 0\.3 seconds") as caught:
        waiting_store(hostile, tmp_path, 0.3).list_names_from("")

    assert caught.value.code == "provider-slow"
    assert "acme" in caught.value.message


def test_files_and_further_looks_are_of_the_same_wait(
    hostile: Hostile, tmp_path: Path
) -> None:
    shares(hostile.provider, 0)
    hostile.drips("/one-0")
    store = waiting_store(hostile, tmp_path, 3)
    snapshot = DeltaTable.from_store(store).snapshot()

    with pytest.raises(ProviderSlowError, match="ended after 3 seconds"):
        snapshot.read(limit=1)
    with pytest.raises(ProviderSlowError):
        store.has_data_file("one-0")


def test_a_handshake_that_hangs_ends_with_the_look() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        bounds = budget.LookBounds(seconds=0.3)
        left = budget.LookBudget.of("acme", bounds)

        with pytest.raises(ProviderLimitError, match="longer than"):
            Transport(HERE).ask(HTTPRequest("GET", url), left)


def test_lines_without_an_end_are_given_up(hostile: Hostile, tmp_path: Path) -> None:
    hostile.is_at(1)
    hostile.goes_on(hostile.query_path)

    with pytest.raises(ProviderLimitError, match="more than 1,000 lines"):
        look(hostile, tmp_path, num_lines=1000)


def test_bytes_without_an_end_are_given_up(hostile: Hostile, tmp_path: Path) -> None:
    hostile.is_at(1)
    hostile.goes_on(hostile.query_path)

    with pytest.raises(ProviderLimitError, match="more than 1,000,000 bytes"):
        look(hostile, tmp_path, num_bytes=1_000_000)


def test_a_line_without_an_end_is_given_up(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_LINE_BYTES", 1 << 16)
    hostile.is_at(1)
    hostile.goes_on(hostile.query_path, line=b"x" * 4096)

    with pytest.raises(ProviderLimitError, match="a line has more than 65,536 bytes"):
        look(hostile, tmp_path)


def test_pages_without_an_end_are_given_up(hostile: Hostile) -> None:
    hostile.turns_pages("/shares/s/all-tables")

    with pytest.raises(ProviderLimitError, match="more than 20 pages"):
        hostile.provider.client(num_pages=20).tables()

    assert len(hostile.provider.asked) == 20


def test_the_lists_of_a_look_share_its_pages(hostile: Hostile) -> None:
    hostile.provider.lists(*(f"s{number}.c.t" for number in range(10)))

    with pytest.raises(ProviderLimitError, match="more than 10 pages"):
        hostile.provider.client(num_pages=10).tables()

    assert len(hostile.provider.client(num_pages=11).tables().tables) == 10


def test_a_page_that_leads_back_to_itself_is_found(hostile: Hostile) -> None:
    hostile.turns_pages("/shares", is_same=True)

    with pytest.raises(ProviderAnswerError, match=AGAIN) as caught:
        hostile.provider.client().tables()

    assert caught.value.code == "provider-answer"
    assert len(hostile.provider.asked) < 5


def test_a_token_that_is_no_token_is_not_sent_back(hostile: Hostile) -> None:
    hostile.provider.puts("/shares", {"items": [], "nextPageToken": "x" * 100_000})

    with pytest.raises(ProviderAnswerError, match="token of a page is too long"):
        hostile.provider.client().tables()


def test_what_is_packed_is_counted_unpacked(hostile: Hostile, tmp_path: Path) -> None:
    hostile.is_at(1)
    hostile.packs(hostile.query_path, 64 << 20)

    with pytest.raises(ProviderLimitError, match="more than 4,000,000 bytes"):
        look(hostile, tmp_path, num_bytes=4_000_000)


def test_redirects_without_an_end_are_given_up(hostile: Hostile, tmp_path: Path):
    for path in (hostile.version_path, "/elsewhere"):
        to = "/api/elsewhere" if path == hostile.version_path else hostile.version_path
        hostile.provider.puts(
            path, {}, 302, Location=to.replace("/shares", "/api/shares")
        )

    with pytest.raises(ProviderAnswerError, match="redirects more than 5 times"):
        look(hostile, tmp_path)

    assert len(hostile.provider.asked) == 6


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    "said", ["999999999", "9" * 5000, "Fri, 31 Dec 9999 23:59:59 GMT", "3600"]
)
def test_a_pause_that_is_longer_than_the_look_is_not_waited_for(
    hostile: Hostile, tmp_path: Path, status: int, said: str
) -> None:
    hostile.provider.puts(hostile.version_path, {}, status, Retry_After=said)

    with pytest.raises(ProviderAnswerError, match=str(status)):
        look(hostile, tmp_path, seconds=3)


@pytest.mark.parametrize("said", ["-5", "soon", "", "1e3", "Mon, 99 Foo", "²"])
def test_a_pause_that_cannot_be_read_is_our_own(
    hostile: Hostile, tmp_path: Path, said: str
) -> None:
    said = said.encode().decode("latin")
    hostile.provider.puts(hostile.version_path, {}, 503, Retry_After=said)

    with pytest.raises(ProviderAnswerError):
        look(hostile, tmp_path, seconds=1)

    assert len(hostile.provider.asked) > 1


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::1]:1/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "http://[::1",
        "http://127.0.0.1:99999/",
    ],
)
def test_a_redirect_leads_to_no_other_place(
    hostile: Hostile, tmp_path: Path, to: str
) -> None:
    hostile.provider.puts(hostile.version_path, {}, 307, Location=to)

    with pytest.raises((ProviderHostError, ProviderAnswerError)):
        look(hostile, tmp_path)

    assert len(hostile.provider.asked) == 1


def test_headers_without_an_end_are_given_up(hostile: Hostile, tmp_path: Path) -> None:
    many = {f"X-{number}": "x" * 1000 for number in range(200)}
    hostile.provider.puts(hostile.version_path, {}, 200, **many)

    with pytest.raises(LocationUnreachableError):
        look(hostile, tmp_path)


def test_a_header_without_an_end_is_given_up(hostile: Hostile, tmp_path: Path) -> None:
    hostile.drips(hostile.version_path, b"X-Long: " + b"x" * 70_000 + b"\r\n")

    with pytest.raises(Exception, match="LineTooLong") as caught:
        look(hostile, tmp_path)

    assert getattr(caught.value, "code", "") == "location-unreachable"
