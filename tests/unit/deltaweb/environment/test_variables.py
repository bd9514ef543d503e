import pytest
from django.core.exceptions import ImproperlyConfigured

from deltaweb.environment.variables import env_networks, env_roots

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
    def test_reads(self, monkeypatch, text, networks):
        monkeypatch.setenv(NAME, text)

        assert env_networks(NAME) == networks

    def test_unset_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(NAME, raising=False)

        assert env_networks(NAME) == []

    @pytest.mark.parametrize("text", ["proxy", "10.0.0.1/8", "10.0.0.0/33", "::/129"])
    def test_refuses_in_one_sentence(self, monkeypatch: pytest.MonkeyPatch, text: str):
        monkeypatch.setenv(NAME, f"::1,{text}")

        with pytest.raises(ImproperlyConfigured, match="is not an address or a"):
            env_networks(NAME)


class TestEnvRoots:
    @pytest.mark.parametrize(
        ("text", "roots"),
        [
            pytest.param("", [], id="nothing"),
            pytest.param("/srv", ["/srv"], id="a folder"),
            pytest.param(" /srv:/data: ", ["/srv", "/data"], id="folders"),
            pytest.param("/a:lake", ["/a", "lake"], id="a relative folder"),
            pytest.param("/a://b", ["/a", "//b"], id="a doubled slash"),
            pytest.param("s3://lake/x", ["s3://lake/x"], id="a URL"),
            pytest.param(
                "/a:s3://lake/x:gs://b:/c",
                ["/a", "s3://lake/x", "gs://b", "/c"],
                id="both",
            ),
        ],
    )
    def test_reads(self, monkeypatch: pytest.MonkeyPatch, text: str, roots: list[str]):
        monkeypatch.setenv(NAME, text)

        assert env_roots(NAME) == roots

    @pytest.mark.parametrize(
        "text", ["s3://host:9000/bucket", "/a:s3://key:hidden@bucket/x"]
    )
    def test_refuses_a_url_with_another_colon_without_repeating_it(
        self, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setenv(NAME, text)

        with pytest.raises(ImproperlyConfigured, match="the bucket and a path") as one:
            env_roots(NAME)

        assert "hidden" not in str(one.value)
