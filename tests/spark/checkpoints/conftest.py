"""Checkpoints that differ are told in full, and parts are shuffled on any machine."""

import pytest

pytest.register_assert_rewrite("tests.spark.checkpoints.both_engines")


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Shuffle parts, unless a test asks for more cores than Spark has."""
    from deltaweb.spark import checkpoint

    wanted = getattr(request, "param", 0)
    monkeypatch.setattr(checkpoint, "SHUFFLED_FROM_CORES", wanted)
