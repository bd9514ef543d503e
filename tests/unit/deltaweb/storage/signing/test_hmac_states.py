import hmac

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.storage.signing.hmac_states import as_list, hmac_states


@given(st.binary(max_size=200), st.binary(), st.binary())
def test_the_states_make_the_same_digest_as_the_standard_library(key, head, rest):
    inner, outer = hmac_states(key)
    inner.update(head)
    of_one = inner.copy()
    of_one.update(rest)
    outer.update(of_one.digest())

    assert outer.digest() == hmac.digest(key, head + rest, "sha256")


def test_columns_and_sequences_become_lists() -> None:
    column = pa.chunked_array([["a"], ["b"]])

    assert as_list(column) == as_list(pa.array(["a", "b"])) == as_list(("a", "b"))
