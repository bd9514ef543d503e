import re
from urllib.parse import unquote

import pytest
from django.test import Client

from apps.sharing.models import SharedTable
from tests.functional.sharing_api.calls import PREFIX, Answer, Caller, Lake, refused
from tests.support import cases
from tests.support.pages.factories import new_share

TABLE = "/shares/Sales/schemas/crm/tables/Orders"
ENDPOINTS = [
    ("GET", "/shares"),
    ("GET", "/shares/Sales"),
    ("GET", "/shares/Sales/schemas"),
    ("GET", "/shares/Sales/schemas/crm/tables"),
    ("GET", "/shares/Sales/all-tables"),
    ("GET", TABLE),
    ("GET", f"{TABLE}/version"),
    ("GET", f"{TABLE}/metadata"),
    ("POST", f"{TABLE}/query"),
]
OF_A_SHARE = ENDPOINTS[1:]
MISSING, MALFORMED = "RESOURCE_DOES_NOT_EXIST", "MALFORMED_REQUEST"


class TestUnauthenticated:
    @cases(
        "header",
        {
            "nothing": {},
            "an empty header": {"Authorization": ""},
            "no token": {"Authorization": "Bearer"},
            "a blank token": {"Authorization": "Bearer   "},
            "another scheme": {"Authorization": "Basic YTpi"},
            "a made up token": {"Authorization": "Bearer wrong"},
            "no text": {"Authorization": "Bearer \xff\x00"},
        },
    )
    @pytest.mark.usefixtures("lake")
    def test_calls_are_answered_401(self, stranger: Client, header):
        for method, path in ENDPOINTS:
            answer: Answer = stranger.generic(
                method, f"{PREFIX}{path}", b"{}", headers=header
            )

            refused(answer, "UNAUTHENTICATED", 401)
            assert answer["WWW-Authenticate"] == "Bearer"

    def test_scheme_has_any_capitals(self, acme: Caller) -> None:
        answer = acme.get("/shares", Authorization=f"bEARER  {acme.secret} ")

        assert answer.status_code == 200

    def test_session_of_a_person_opens_nothing(self, lake: Lake, admin_client: Client):
        del lake
        assert admin_client.get(f"{PREFIX}/shares").status_code == 401


class TestNotFound:
    @pytest.mark.parametrize(("method", "path"), OF_A_SHARE)
    def test_what_is_missing_reads_as_what_is_not_granted(
        self, lake, new_caller, method, path
    ):
        other = new_caller("globex", new_share("mine"))

        not_granted = refused(other.ask(method, path, b"{}"), MISSING, 404)
        SharedTable.objects.filter(id=lake.shared.id).delete()
        lake.shared.share.delete()

        assert refused(other.ask(method, path, b"{}"), MISSING, 404) == not_granted

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("/shares/nope", "share"),
            ("/shares/Sales/schemas/nope/tables", "schema"),
            ("/shares/Sales/schemas/crm/tables/nope", "table"),
            ("/shares/Sales/schemas/crm/tables/nope/version", "table"),
            ("/shares/Sales/schemas/crm/tables/nope/metadata", "table"),
            ("/shares/%00/schemas", "share"),
            ("/shares/Sales/schemas/%00/tables", "schema"),
            ("/shares/Sales/schemas/crm/tables/a%00b/version", "table"),
            ("/shares/%ff%fe", "share"),
            ("/shares/%ED%A0%80", "share"),
            ("/shares/" + "x" * 3000, "share"),
            ("/shares/a%0Ab", "share"),
            ("/shares/Sales/schemas/crm/tables/%2e%2e/version", "table"),
        ],
    )
    def test_names_of_nothing_are_404(self, acme, path: str, kind: str) -> None:
        message = refused(acme.get(path), MISSING, 404)

        assert message.startswith(f"The {kind} ")
        assert " does not exist." in message

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/",
            "/shares/",
            "/shares/Sales/",
            "/shares/Sales/schemas/",
            "/shares//schemas",
            "/shares/Sales/tables",
            "/shares/Sales/schemas/crm/tables/Orders/",
            "/shares/Sales/schemas/crm/tables/Orders/query/",
            "/shares/Sales/schemas/crm/tables/Orders/changes/",
            "/shares/Sales/schemas/crm/tables/Orders/queries/",
            "/admin",
            "/%0A",
            "/shares%0A",
            "/%ff",
            "/files",
            "/files/a/b/c",
            "/files/Sales/00000000-0000-0000-0000-000000000000/",
        ],
    )
    def test_paths_of_no_endpoint_are_404_in_json(self, acme, path):
        for method in ("GET", "HEAD", "POST", "PUT", "BREW"):
            answer = acme.ask(method, path, b"{}")

            assert answer.status_code == 404
            assert "Location" not in answer
            if method == "HEAD":
                assert answer.content == b""
            else:
                refused(answer, MISSING, 404)

    def test_a_file_of_a_made_up_id_is_404_to_readers_alone(self, acme: Caller) -> None:
        path = "/files/Sales/" + "-" * 36 + "/x"

        refused(acme.get(path), MISSING, 404)
        assert acme.ask("PUT", path).status_code == 405

    def test_need_no_token_for_that(self, stranger: Client) -> None:
        refused(stranger.get(f"{PREFIX}/nothing"), MISSING, 404)

    def test_head_has_no_body(self, acme: Caller) -> None:
        answer = acme.head("/shares/Sales/schemas/crm/tables/nope")

        assert answer.status_code == 404
        assert answer.content == b""
        assert "Delta-Table-Version" not in answer


class TestMethods:
    def test_of_others_are_refused_in_json(self, acme: Caller) -> None:
        every = {"POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
        for method, path in ENDPOINTS:
            for other in every - {method}:
                answer = acme.ask(other, path, b"{}")

                refused(answer, "UNSUPPORTED_OPERATION", 405)
                assert method in answer["Allow"], path


class TestOtherLayers:
    def test_a_host_that_is_not_ours_is_refused_in_json(self, acme: Caller) -> None:
        answer = acme.get("/shares", Host="evil.example.com")

        refused(answer, MALFORMED)
        assert "DELTAWEB_ALLOWED_HOSTS" in answer.json()["message"]
        assert "DELTAWEB_PUBLIC_URL" in answer.json()["message"]

    @pytest.mark.parametrize("path", [f"{PREFIX}/shares", "/sign-in/"])
    def test_a_host_that_is_not_ours_is_one_line_of_the_log(
        self, stranger: Client, path: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        stranger.get(path, headers={"Host": "evil.example.com"})

        (record,) = caplog.records
        assert "evil.example.com" in record.getMessage()
        assert record.exc_info is None

    @pytest.mark.parametrize(
        "path",
        [
            *(f"{PREFIX}//shares", f"{PREFIX}///shares", f"/{PREFIX}/shares"),
            *(f"{PREFIX}/shares//Sales/schemas", f"{PREFIX}/shares/Sales//schemas"),
        ],
    )
    def test_several_slashes_are_one(self, acme: Caller, path: str) -> None:
        single = re.sub("//+", "/", path).removeprefix(PREFIX)
        caller = Client(headers={"Authorization": f"Bearer {acme.secret}"})

        answer = caller.generic("GET", "/", PATH_INFO=path)

        expected = acme.get(single)
        assert (answer.status_code, answer.content) == (200, expected.content)

    @pytest.mark.parametrize("name", ["%2F", "%2f%2F", "a%2F%2Fb"])
    def test_an_encoded_slash_is_part_of_a_name(self, acme: Caller, name: str) -> None:
        target = f"{PREFIX}/shares/Sales/{name}/schemas"
        caller = Client(headers={"Authorization": f"Bearer {acme.secret}"})

        answer = caller.generic(
            "GET", "/", PATH_INFO=unquote(target), RAW_URI=f"{target}?maxResults=5"
        )

        refused(answer, MISSING, 404)

    def test_an_encoded_slash_of_a_parameter_changes_nothing(self, acme: Caller):
        caller = Client(headers={"Authorization": f"Bearer {acme.secret}"})
        target = f"{PREFIX}//shares"

        answer = caller.generic("GET", "/", PATH_INFO=target, RAW_URI=f"{target}?x=%2F")

        assert answer.status_code == 200

    @pytest.mark.django_db
    @pytest.mark.parametrize("path", [f"{PREFIX}//shares", "/iceberg//v1/config"])
    def test_several_slashes_let_nobody_in(self, stranger: Client, path: str) -> None:
        answer = stranger.generic("GET", "/", PATH_INFO=path)

        assert answer.status_code == 401

    @pytest.mark.parametrize("middle", ["//files", "/files/", "/prepared/"])
    def test_slashes_in_the_url_of_a_file_stay(self, stranger: Client, middle: str):
        path = f"{PREFIX}{middle}/a/b/c"

        refused(stranger.generic("GET", "/", PATH_INFO=path), MISSING, 404)

    def test_plain_http_is_refused_without_a_redirect(self, acme, settings):
        settings.SECURE_SSL_REDIRECT = True

        refused(acme.get("/shares"), MALFORMED)

    def test_too_many_parameters_are_refused_in_json(self, acme: Caller) -> None:
        refused(acme.get("/shares?" + "&".join(["a=1"] * 1500)), MALFORMED)

    def test_every_answer_has_an_id_for_the_log(self, acme: Caller) -> None:
        assert acme.get("/nothing")["X-Request-Id"]
        assert acme.get("/shares")["X-Request-Id"]

    def test_pages_keep_their_own_errors(self, stranger: Client) -> None:
        assert (
            "text/html"
            in stranger.get("/delta-sharing-x", follow=True).headers["Content-Type"]
        )
