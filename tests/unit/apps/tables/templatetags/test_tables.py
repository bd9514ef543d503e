import pytest

from apps.pages.registry import Registry
from apps.tables.extension import guards, tabs
from apps.tables.models import Table
from apps.tables.templatetags import tables as tags


class TestSparkline:
    def test_draws_a_bar_a_day_and_a_line_for_none(self) -> None:
        path = tags.sparkline([0, 5, 10])

        assert path.count("M") == 3
        assert "v-1.0" in path
        assert "v-10.0" in path
        assert "v-20.0" in path

    def test_draws_nothing_of_nothing(self) -> None:
        assert tags.sparkline([]) == ""

    def test_passes_over_what_is_no_count(self) -> None:
        assert tags.sparkline([None, "x", -3]).count("v-1.0") == 3
        assert tags.total([1, None, "x", 2]) == 3


def test_the_small_strip_says_how_much_can_be_read() -> None:
    table = Table(
        summary={"readable_runs": [[0, 9, "GONE", ""], [10, 14, "READABLE", ""]]}
    )

    assert "<title>Versions: 10 gone, 5 readable</title>" in tags.version_strip(table)
    assert tags.version_strip(Table(summary={})) == ""


@pytest.mark.parametrize("state", ["READABLE", "PARTLY", "GONE", "UNSUPPORTED"])
def test_every_state_of_a_version_has_a_word_and_a_dot(state: str) -> None:
    assert tags.state_word(state) != state
    assert tags.state_dot(state)


@pytest.mark.parametrize(
    "status", ["indexed", "unsupported", "behind", "unreachable", "failed"]
)
def test_every_state_of_a_table_has_a_word_and_a_dot(status: str) -> None:
    assert tags.status_word(status)
    assert tags.status_dot(status)
    assert tags.status_dot("new") == ""


class TestTabs:
    def test_a_page_below_a_tab_counts_as_the_tab(self, monkeypatch):
        monkeypatch.setattr(tabs, "tabs", Registry())
        late = tabs.Tab(label="Z", url_name="z", order=2)
        early = tabs.Tab(label="A", url_name="a", order=1, also=("a-detail",))
        tabs.tabs.register(late)
        tabs.tabs.register(early)

        assert tabs.registered() == [early, late]
        assert tabs.current_tab("a-detail") == early
        assert tabs.current_tab("elsewhere") is None


@pytest.mark.django_db
def test_a_guard_is_asked_once_however_often_it_registers() -> None:
    def one(_: Table) -> list[str]:
        return ["the share sales"]

    guards.guards.register(one)
    guards.guards.register(one)
    try:
        assert guards.users_of(Table()) == ["the share sales"]
    finally:
        guards.guards.remove(one)
        guards.guards.remove(one)
    assert guards.users_of(Table()) == []
