import pytest
from django.core.exceptions import ImproperlyConfigured

from deltaweb.environment.variables import (
    MailRelay,
    env_networks,
    env_relay,
    env_roots,
)
from tests.support import cases

NAME = "DELTAWEB_TRUSTED_PROXIES"


class TestEnvNetworks:
    @cases(
        "text, networks",
        {
            "a network": ("10.0.0.0/8", ["10.0.0.0/8"]),
            "an address": ("127.0.0.1", ["127.0.0.1/32"]),
            "both families": ("10.0.0.0/8, ::1", ["10.0.0.0/8", "::1/128"]),
            "nothing": ("", []),
        },
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
    @cases(
        "text, roots",
        {
            "nothing": ("", []),
            "a folder": ("/srv", ["/srv"]),
            "folders": (" /srv:/data: ", ["/srv", "/data"]),
            "a relative folder": ("/a:lake", ["/a", "lake"]),
            "a doubled slash": ("/a://b", ["/a", "//b"]),
            "a URL": ("s3://lake/x", ["s3://lake/x"]),
            "both": ("/a:s3://lake/x:gs://b:/c", ["/a", "s3://lake/x", "gs://b", "/c"]),
        },
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


class TestEnvRelay:
    @cases(
        "text, relay",
        {
            "nothing": ("", MailRelay()),
            "a host": ("mail.example", MailRelay(host="mail.example")),
            "a port": ("mail.example:2525", MailRelay(host="mail.example", port=2525)),
            "STARTTLS with a user": (
                "smtp+tls://me:p%40ss@mail.example",
                MailRelay(
                    host="mail.example",
                    port=587,
                    user="me",
                    password="p@ss",
                    begins_tls=True,
                ),
            ),
            "TLS": (
                "smtps://mail.example",
                MailRelay(host="mail.example", port=465, is_tls=True),
            ),
        },
    )
    def test_reads(self, monkeypatch, text, relay):
        monkeypatch.setenv(NAME, text)

        assert env_relay(NAME) == relay

    @pytest.mark.parametrize(
        "text", ["https://secret@h", "smtp://", "h:port", "smtp://secret@h/path", "[::"]
    )
    def test_refuses_in_one_sentence_without_the_password(
        self, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setenv(NAME, text)

        with pytest.raises(ImproperlyConfigured, match="is not a mail relay") as found:
            env_relay(NAME)
        assert "secret" not in str(found.value)
