import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from apps.pages import actions
from apps.pages.actions import COMMAND_LINE, Action, Stamp, actor_of
from apps.pages.registry import Registry
from tests.support.pages.factories import NOW, new_user


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Action]:
    """What is reported while the test runs."""
    heard: list[Action] = []
    monkeypatch.setattr(actions, "recorders", Registry())
    actions.recorders.register(heard.append)
    return heard


class TestReport:
    def test_reaches_those_who_have_registered(self, told: list[Action]) -> None:
        action = Action(name="share.create", stamp=Stamp(COMMAND_LINE, NOW))

        actions.report(action)

        assert told == [action]

    def test_reaches_each_once(self, told: list[Action]) -> None:
        (recorder,) = actions.recorders
        actions.recorders.register(recorder)

        actions.report(Action(name="share.create", stamp=Stamp(COMMAND_LINE, NOW)))

        assert len(told) == 1


class TestActorOf:
    @pytest.mark.django_db
    def test_names_the_user_and_where_the_request_came_from(self, rf: RequestFactory):
        request = rf.get(
            "/", REMOTE_ADDR="192.0.2.7", headers={"User-Agent": "x" * 400}
        )
        request.user = user = new_user("ada")

        actor = actor_of(request)

        assert (actor.name, actor.user_id) == ("ada", user.pk)
        assert actor.address == "192.0.2.7"
        assert actor.user_agent == "x" * 300

    def test_somebody_without_an_account_is_anonymous(self, rf: RequestFactory) -> None:
        request = rf.get("/")
        request.user = AnonymousUser()

        actor = actor_of(request)

        assert (actor.name, actor.user_id) == ("anonymous", None)
