"""Administrators see and withdraw invitations; each admits one person."""

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.test import Client

from apps.accounts.errors import SignOnRefusedError
from apps.accounts.models import Identity, Invitation, User
from apps.accounts.sign_on.admission import Person, Rules
from apps.accounts.sign_on.people import sign_on
from apps.audit.models import AuditEvent
from apps.pages.actions import COMMAND_LINE, Stamp
from tests.support.pages.factories import signed_in

NOW = datetime.now(UTC)
API = "/api/v1/invitations"
NUM_PEOPLE = 6


def invitation(email: str = "eve@example.org", days: int = 3) -> Invitation:
    return Invitation.objects.create(
        email=email,
        role=User.Role.EDITOR,
        invited_by="ada",
        created_at=NOW,
        expires_at=NOW + timedelta(days=days),
    )


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.mark.django_db
class TestThePage:
    def test_lists_who_is_invited_by_whom_and_until_when(self, admin: Client) -> None:
        invitation()
        invitation("old@example.org", days=-1)

        page = admin.get("/admin-area/invitations/").content.decode()
        (one,) = admin.get(API).json()["invitations"]

        assert "eve@example.org" in page
        assert "old@example.org" not in page
        assert {**one, "id": 0, "created_at": "", "expires_at": ""} == {
            "email": "eve@example.org",
            "role": "editor",
            "invited_by": "ada",
            "created_at": "",
            "expires_at": "",
            "id": 0,
        }

    def test_invites_and_withdraws(self, admin: Client) -> None:
        form = {"email": "Bob@Example.org", "role": "viewer", "expires": "2d"}
        admin.post("/admin-area/invitations", form)
        found = Invitation.objects.get()

        answer = admin.post(f"/admin-area/invitations/{found.id}/withdraw")

        assert found.email == "bob@example.org"
        assert answer["Location"] == "/admin-area/invitations/"
        assert not Invitation.objects.exists()
        actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
        assert [*actions] == ["user.invite", "user.uninvite"]

    def test_says_what_is_wrong_with_an_address(self, admin: Client) -> None:
        form = {"email": "nobody", "role": "viewer", "expires": "2d"}

        answer = admin.post("/admin-area/invitations", form)

        assert answer.status_code == 422
        assert "is not an e-mail address" in answer.content.decode()

    def test_is_for_administrators_alone(self) -> None:
        editor = signed_in("eddie", role=User.Role.EDITOR)

        assert editor.get("/admin-area/invitations/").status_code == 403
        assert editor.get(API).status_code == 403


@pytest.mark.django_db
def test_a_withdrawn_invitation_admits_nobody(admin: Client) -> None:
    invitation()

    assert admin.delete(f"{API}/EVE@example.org").status_code == 204
    assert admin.delete(f"{API}/eve@example.org").status_code == 404

    with pytest.raises(SignOnRefusedError):
        sign_on(person("1"), Rules(), Stamp(COMMAND_LINE, NOW))


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_of_many_people_at_once_an_invitation_admits_one() -> None:
    invitation()
    together = Barrier(NUM_PEOPLE)
    admitted: list[str] = []
    refused: list[Exception] = []

    def come(subject: str) -> None:
        together.wait()
        try:
            sign_on(person(subject), Rules(), Stamp(COMMAND_LINE, NOW))
            admitted.append(subject)
        except SignOnRefusedError as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [Thread(target=come, args=(str(one),)) for one in range(NUM_PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(admitted) == 1
    assert len(refused) == NUM_PEOPLE - 1
    assert [one.subject for one in Identity.objects.all()] == admitted
    assert User.objects.count() == 1
    assert not Invitation.objects.exists()


def person(subject: str) -> Person:
    return Person(
        issuer="https://issuer.example",
        subject=subject,
        name="eve",
        email="eve@example.org",
        is_email_verified=True,
    )
