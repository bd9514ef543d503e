"""A driver is opened, and its faults become errors that say what to do."""

from types import SimpleNamespace

import pytest

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DeltaError,
    LocationDeniedError,
    LocationInvalidError,
    LocationUnreachableError,
    LocationUnsupportedError,
)
from deltaweb.storage.objects.driver import (
    OWN_OPTIONS,
    driver_faults,
    driver_options,
    fault_of,
    open_driver,
)
from deltaweb.storage.objects.errors import (
    BucketNotFoundError,
    ClockSkewedError,
    CredentialsExpiredError,
    KeyUnknownError,
    RegionWrongError,
    SecretWrongError,
)
from tests.support import cases

PLACE = "s3://lake/orders"
SECRET = "AKIAIOSFODNN7EXAMPLE"  # made up, in the manual of the store


class ClientError(Exception):
    """As botocore has it: the code of the answer is in a mapping."""

    def __init__(self, code: str, status: int = 400, text: str = "") -> None:
        super().__init__(text or f"An error occurred ({code})")
        self.response: dict[str, object] = {
            "Error": {"Code": code},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }


class HttpResponseError(Exception):
    """As Azure has it: the code is an attribute, perhaps of an enumeration."""

    def __init__(self, code: object) -> None:
        super().__init__("The request failed.")
        self.error_code = code


class EndpointConnectionError(Exception):
    """As botocore raises it where nothing listens."""


def meant_by(error: BaseException, fs: object = None) -> DeltaError:
    return fault_of(error, location=PLACE, fs=fs)


class TestFaultOf:
    @cases(
        "code, kind",
        {
            "no such bucket": ("NoSuchBucket", BucketNotFoundError),
            "an unknown key": ("InvalidAccessKeyId", KeyUnknownError),
            "a wrong secret": ("SignatureDoesNotMatch", SecretWrongError),
            "an old token": ("ExpiredToken", CredentialsExpiredError),
            "a wrong clock": ("RequestTimeTooSkewed", ClockSkewedError),
            "another region": ("PermanentRedirect", RegionWrongError),
            "no right": ("AccessDenied", LocationDeniedError),
            "anything else": ("SlowDown", LocationUnreachableError),
        },
    )
    def test_tells_the_codes_of_s3_apart(self, code, kind) -> None:
        found = meant_by(ClientError(code))

        assert isinstance(found, kind)
        assert PLACE in found.message

    @cases(
        "code, kind",
        {
            "a word": ("ContainerNotFound", BucketNotFoundError),
            "an enumeration": (
                SimpleNamespace(value="AuthenticationFailed"),
                CredentialsNeededError,
            ),
        },
    )
    def test_tells_the_codes_of_azure_apart(self, code, kind) -> None:
        assert isinstance(meant_by(HttpResponseError(code)), kind)

    def test_names_the_region_that_the_store_expects(self) -> None:
        text = "the region 'us-east-1' is wrong; expecting 'eu-central-1'"

        found = meant_by(ClientError("AuthorizationHeaderMalformed", text=text))

        assert isinstance(found, RegionWrongError)
        assert found.region == "eu-central-1"

    def test_looks_behind_the_error_that_a_driver_raises(self) -> None:
        error = OSError("read failed")
        error.__cause__ = ClientError("NoSuchBucket")

        assert isinstance(meant_by(error), BucketNotFoundError)

    def test_asks_for_credentials_if_none_were_sent(self) -> None:
        denied = ClientError("AccessDenied", 403)

        anonymous = meant_by(denied, SimpleNamespace(anon=True))

        assert type(anonymous) is CredentialsNeededError
        assert type(meant_by(denied, SimpleNamespace(anon=False))) is (
            LocationDeniedError
        )

    def test_takes_a_refusal_without_a_code_as_one(self) -> None:
        assert type(meant_by(PermissionError(13, "no"))) is LocationDeniedError

    @cases(
        "error, reason",
        {
            "silence": (EndpointConnectionError("s3"), "nothing answers at its"),
            "a redirect": (ClientError("301", 301), "redirects are not followed"),
            "an address inside": (
                OSError("address refused: 10.0.0.1"),
                "in a private network",
            ),
            "a fault of its own": (RuntimeError("what now"), "RuntimeError"),
        },
    )
    def test_says_why_a_store_cannot_be_reached(self, error, reason) -> None:
        found = meant_by(error)

        assert isinstance(found, LocationUnreachableError)
        assert reason in found.message

    def test_never_repeats_the_text_of_a_driver(self) -> None:
        for error in (RuntimeError(SECRET), ClientError("AccessDenied", text=SECRET)):
            assert SECRET not in str(meant_by(error))


class TestDriverFaults:
    @pytest.mark.parametrize(
        "error", [FileNotFoundError("a"), FileExistsError("a"), meant_by(OSError("a"))]
    )
    def test_lets_files_and_our_own_errors_pass(self, error: Exception) -> None:
        with pytest.raises(type(error)) as raised, driver_faults(meant_by):
            raise error

        assert raised.value is error

    @pytest.mark.parametrize("kind", [NotADirectoryError, IsADirectoryError])
    def test_a_folder_where_a_file_is_expected_is_a_missing_file(self, kind) -> None:
        with pytest.raises(FileNotFoundError), driver_faults(meant_by):
            raise kind

    def test_turns_anything_else_into_an_error_of_ours(self) -> None:
        error = ClientError("NoSuchBucket", text=SECRET)

        with pytest.raises(BucketNotFoundError) as raised, driver_faults(meant_by):
            raise error

        assert raised.value.__suppress_context__


class TestDriverOptions:
    def test_keeps_our_own_options_from_the_driver(self) -> None:
        ours = dict.fromkeys(OWN_OPTIONS, "x")

        assert driver_options(PLACE, {**ours, "key": "k"}) == {"key": "k"}

    def test_a_location_of_azure_names_its_account(self) -> None:
        root = "abfss://lake@acct.dfs.core.windows.net/orders"

        assert driver_options(root, {"account_key": "k"})["account_name"] == "acct"


class TestOpenDriver:
    def test_refuses_a_scheme_that_no_driver_has(self) -> None:
        with pytest.raises(LocationUnsupportedError, match="nosuch"):
            open_driver("nosuch://lake", {})

    def test_refuses_options_that_do_not_fit_without_their_values(self) -> None:
        with pytest.raises(LocationInvalidError, match="options do not fit") as raised:
            open_driver(PLACE, {"key": "k", "config_kwargs": SECRET})

        assert SECRET not in str(raised.value)
