from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tables.versions.readable import parse_runs
from apps.tables.versions.timeline import MAX_RUNS, build_timeline, mini_runs

SUMMARY = {
    "readable_runs": [
        [0, 49, "GONE", "log cleaned"],
        [50, 79, "PARTLY", "vacuumed"],
        [80, 99, "READABLE", ""],
    ],
    "events": [{"version": 79, "kind": "vacuum"}, {"version": 3, "kind": "schema"}],
}


class TestBuildTimeline:
    def test_places_runs_by_their_share_of_the_versions(self) -> None:
        timeline = build_timeline(SUMMARY, latest=99, shown=99)

        assert [(run.x, run.width) for run in timeline.bins] == [
            (0, 50),
            (50, 30),
            (80, 20),
        ]
        assert timeline.counts["PARTLY"] == 30
        assert timeline.num_versions == 100

    def test_puts_the_flag_on_the_middle_of_the_shown_version(self) -> None:
        timeline = build_timeline(SUMMARY, latest=99, shown=50)

        assert timeline.flag_x == 50.5
        assert timeline.flag_shift == 0
        assert timeline.shown_run.state == "PARTLY"

    @pytest.mark.parametrize(("shown", "sign"), [(0, 1), (99, -1)])
    def test_keeps_the_flags_label_inside_at_both_ends(self, shown: int, sign: int):
        assert sign * build_timeline(SUMMARY, latest=99, shown=shown).flag_shift > 0

    def test_starts_where_the_history_starts(self) -> None:
        summary = {"readable_runs": [[10, 12, "READABLE", ""]]}

        assert build_timeline(summary, latest=12, shown=12).first == 10

    def test_holds_a_table_of_one_version(self) -> None:
        timeline = build_timeline({}, latest=0, shown=0)

        assert (timeline.first, timeline.last, timeline.flag_x) == (0, 0, 50)

    def test_draws_at_most_so_many_shapes_and_never_hides_the_worst(self) -> None:
        runs = [
            [v, v, "GONE" if v == 1500 else ["READABLE", "PARTLY"][v % 2], ""]
            for v in range(3000)
        ]

        timeline = build_timeline({"readable_runs": runs}, latest=2999, shown=0)

        assert len(timeline.bins) <= MAX_RUNS
        assert "GONE" in {run.state for run in timeline.bins}
        assert timeline.counts["GONE"] == 1

    def test_leaves_out_ticks_that_would_touch_the_ends(self) -> None:
        timeline = build_timeline(SUMMARY, latest=99, shown=99)
        moment = datetime(2026, 11, 1, tzinfo=UTC)

        ticks = timeline.ticks({0: moment, 50: moment, 99: moment})

        assert [tick.x for tick in ticks] == [50.5]


class TestParseRuns:
    @given(
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=4),
            max_leaves=12,
        )
    )
    def test_passes_over_what_is_not_a_run(self, raw: object) -> None:
        assert parse_runs(raw) == []

    def test_the_small_strip_of_an_unindexed_table_is_empty(self) -> None:
        assert mini_runs({}) == []
