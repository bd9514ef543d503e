"""Data files of others, read in ranges."""

import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.storage.received.columns import SignedURL
from deltaweb.storage.received.files import RangedFile
from deltaweb.storage.received.patience import MAX_ANSWER_BYTES
from deltaweb.storage.received.transport import Transport
from tests.support.stores.sharing_provider import HERE, Handler, Provider


def test_no_more_is_read_at_once_than_an_answer_may_have(provider: Provider) -> None:
    provider.answers["/f"] = Handler.part_of_zeros
    signed = SignedURL(f"{provider.endpoint}/f", None, MAX_ANSWER_BYTES + 1)
    transport = Transport(HERE)
    file = RangedFile("f.parquet", signed, renew=lambda: signed, transport=transport)
    num_asked = len(provider.asked)

    with pytest.raises(DataFileError, match="requires 2,147,483,649 bytes at once"):
        file.read()

    assert len(provider.asked) == num_asked
    assert file.read(4) == bytes(4)


@pytest.mark.parametrize("status", [400, 403, 404, 410, 416, 418])
def test_a_file_that_is_refused_is_not_to_be_restored(
    provider: Provider, status: int
) -> None:
    provider.answers["/f"] = lambda asked: asked.say(status, b"no")
    signed = SignedURL(f"{provider.endpoint}/f", None, 100)

    with pytest.raises(DataFileError, match=f"answers with HTTP {status}") as caught:
        RangedFile("f.parquet", signed, renew=lambda: signed, transport=Transport(HERE))

    assert "ask the provider" in caught.value.hint
    assert "backup" not in caught.value.hint


def test_a_file_of_fewer_bytes_is_not_to_be_restored(provider: Provider) -> None:
    provider.answers["/f"] = lambda asked: asked.say(206, b"few")
    signed = SignedURL(f"{provider.endpoint}/f", None, 100)

    with pytest.raises(DataFileError, match="fewer bytes") as caught:
        RangedFile("f.parquet", signed, renew=lambda: signed, transport=Transport(HERE))

    assert "ask the provider" in caught.value.hint
