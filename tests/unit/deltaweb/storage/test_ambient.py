"""What a driver is opened by where nobody stored options."""

from pathlib import Path

import pytest

from deltaweb.storage.objects.ambient import ambient_options

AZURE = "abfss://lake@acme.dfs.core.windows.net/sales"


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path / "azure"))
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "IDENTITY_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


class TestS3:
    def test_a_public_bucket_is_read_without_credentials(self) -> None:
        assert ambient_options("s3://public/lake", {}) == {"anon": True}

    def test_a_profile_is_left_to_the_driver(self, tmp_path: Path) -> None:
        text = "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"
        (tmp_path / "credentials").write_text(text)

        # Whoever looked a moment ago, under other variables, says nothing of these.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_PROFILE", "default")
            assert ambient_options("s3://lake", {}) == {}

    def test_stored_options_are_all_that_counts(self) -> None:
        assert ambient_options("s3://lake", {"key": "k"}) == {"key": "k"}


class TestAzure:
    def test_the_url_names_the_account(self) -> None:
        assert ambient_options(AZURE, {}) == {"account_name": "acme"}
        stored = {"account_name": "other", "account_key": "k"}
        assert ambient_options(AZURE, stored) == stored

    def test_a_sign_on_is_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AZURE_CLIENT_ID", "id")

        assert ambient_options(AZURE, {}) == {"account_name": "acme", "anon": False}

    def test_a_container_alone_names_none(self) -> None:
        assert ambient_options("az://lake/sales", {}) == {}


def test_google_finds_its_credentials_by_itself() -> None:
    assert ambient_options("gs://lake", {}) == {}
