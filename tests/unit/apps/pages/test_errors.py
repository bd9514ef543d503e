import pytest

from apps.pages.errors import from_delta_error
from apps.sharing import errors
from deltaweb.delta.errors import DeltaError, LocationInvalidError, VersionNotFoundError


class TestFromDeltaError:
    @pytest.mark.parametrize(
        ("error", "status"),
        [
            pytest.param(
                VersionNotFoundError(root="/t", version=9, earliest=0, latest=1),
                404,
                id="what is missing",
            ),
            pytest.param(
                LocationInvalidError(location="x", reason="no"), 422, id="what is wrong"
            ),
            pytest.param(errors.ShareNotFoundError(name="x"), 404, id="its own: 404"),
            pytest.param(
                errors.NameTakenError(kind="share", name="x"), 409, id="its own: 409"
            ),
            pytest.param(errors.LinkWithdrawnError(), 410, id="its own: 410"),
        ],
    )
    def test_answers_with_what_the_error_is(
        self, error: DeltaError, status: int
    ) -> None:
        page_error = from_delta_error(error)

        assert page_error.status == status
        assert (page_error.code, page_error.message, page_error.hint) == (
            error.code,
            error.message,
            error.hint,
        )
