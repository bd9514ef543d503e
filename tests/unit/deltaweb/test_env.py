import pytest
from django.core.exceptions import ImproperlyConfigured

from deltaweb.env import env_networks

NAME = "DELTAWEB_TRUSTED_PROXIES"


class TestEnvNetworks:
    @pytest.mark.parametrize(
        ("text", "networks"),
        [
            pytest.param("10.0.0.0/8", ["10.0.0.0/8"], id="a network"),
            pytest.param("127.0.0.1", ["127.0.0.1/32"], id="an address"),
            pytest.param(
                "10.0.0.0/8, ::1", ["10.0.0.0/8", "::1/128"], id="both families"
            ),
            pytest.param("", [], id="nothing"),
        ],
    )
    def test_reads(
        self, monkeypatch: pytest.MonkeyPatch, text: str, networks: list[str]
    ) -> None:
        monkeypatch.setenv(NAME, text)

        assert env_networks(NAME) == networks

    def test_unset_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(NAME, raising=False)

        assert env_networks(NAME) == []

    @pytest.mark.parametrize("text", ["proxy", "10.0.0.1/8", "10.0.0.0/33", "::/129"])
    def test_refuses_in_one_sentence(
        self, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setenv(NAME, f"::1,{text}")

        with pytest.raises(ImproperlyConfigured, match="is not an address or a"):
            env_networks(NAME)
