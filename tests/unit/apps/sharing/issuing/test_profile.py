import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pytest_django import Settings

from apps.sharing.issuing.profile import new_profile, profile_file_name
from apps.sharing.issuing.tokens import new_nonce, new_prefix, new_secret

EXPIRES_AT = datetime(2027, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


class TestProfile:
    def test_is_what_clients_read(self, settings: Settings) -> None:
        settings.PUBLIC_URL = "https://share.example.com/data"

        profile = new_profile(recipient_name="acme", secret="dwt_x", ends_at=EXPIRES_AT)

        assert json.loads(profile.to_json()) == {
            "shareCredentialsVersion": 1,
            "endpoint": "https://share.example.com/data/delta-sharing/",
            "icebergEndpoint": "https://share.example.com/data/iceberg",
            "bearerToken": "dwt_x",
            "expirationTime": "2027-01-02T03:04:05.678Z",
        }

    def test_writes_its_time_in_utc(self) -> None:
        east = EXPIRES_AT.astimezone(timezone(timedelta(hours=5)))

        profile = new_profile(recipient_name="acme", secret="x", ends_at=east)

        assert '"2027-01-02T03:04:05.678Z"' in profile.to_json()

    def test_does_not_show_its_token_in_a_log(self) -> None:
        profile = new_profile(
            recipient_name="acme", secret="very-secret", ends_at=EXPIRES_AT
        )

        assert "very-secret" not in repr(profile)

    @pytest.mark.parametrize(
        ("name", "file_name"),
        [
            ("acme", "acme.share"),
            ("Acme.EU", "Acme.EU.share"),
            ('a"b;c', "a_b_c.share"),
            ("../../etc", "etc.share"),
            ("%%%", "profile.share"),
            ("x" * 255, "x" * 100 + ".share"),
        ],
    )
    def test_has_a_name_that_every_system_takes(self, name: str, file_name: str):
        assert profile_file_name(name) == file_name


class TestSecrets:
    def test_a_token_begins_with_what_may_be_shown(self) -> None:
        prefix = new_prefix()

        secret = new_secret(prefix)

        assert prefix.startswith("dwt_")
        assert len(prefix) == 12
        assert secret.startswith(prefix)
        assert len(secret) == 12 + 43

    def test_no_two_are_the_same(self) -> None:
        assert len({new_nonce() for _ in range(1000)}) == 1000
        assert new_secret("dwt_0") != new_secret("dwt_0")
