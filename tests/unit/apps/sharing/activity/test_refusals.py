import pytest

from apps.sharing.activity.refusals import MAX_REASON, kept_reason, reason_in


@pytest.mark.parametrize(
    ("status", "code", "kept", "why"),
    [
        pytest.param(200, "", "", "", id="of what was answered: nothing"),
        pytest.param(
            *(404, "RESOURCE_DOES_NOT_EXIST", "There is no share 'a'."),
            "There is no share 'a'.",
            id="as it was answered",
        ),
        pytest.param(
            *(404, "RESOURCE_DOES_NOT_EXIST", ""),
            "The requested object does not exist or is not granted to the caller.",
            id="of a record that kept its code alone",
        ),
        pytest.param(
            *(500, "INTERNAL_ERROR", ""),
            "The server failed. Its log has details under the id of the request.",
            id="of a fault of ours",
        ),
        pytest.param(410, "link-used", "", "Link used.", id="of a link"),
        pytest.param(
            *(200, "STREAM_BROKEN", ""),
            "The answer was cut off, because the rest of it could not be read.",
            id="in the middle of an answer",
        ),
        pytest.param(418, "", "", "Answered with 418.", id="of no code at all"),
    ],
)
def test_every_refusal_has_its_reason(status: int, code: str, kept: str, why: str):
    assert reason_in(status, code, {"reason": kept} if kept else {}) == why


@pytest.mark.parametrize("secret", ["dwt_0123abcd-Ab_9", "dwk_0123abcd-Ab_9"])
def test_no_secret_is_kept(secret: str) -> None:
    kept = kept_reason(f"The value of a cannot be used: '{secret}' is no number.")

    assert secret not in kept
    assert kept.endswith("is no number.")


def test_a_reason_is_bounded() -> None:
    assert len(kept_reason("a" * 10_000)) == MAX_REASON
