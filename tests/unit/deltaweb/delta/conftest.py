import pytest

from deltaweb.delta.log.checkpoints import part as checkpoint_part


@pytest.fixture(
    params=[(0, 4), (20_000, 4), (20_000, 0)],
    ids=["large", "small", "small with many row groups"],
)
def _checkpoints_are_read(request, monkeypatch):
    """Read checkpoints in each of the ways that their size can call for."""
    rows, row_groups = request.param
    monkeypatch.setattr(checkpoint_part, "SMALL_ROWS", rows)
    monkeypatch.setattr(checkpoint_part, "FEW_ROWS", 0)
    monkeypatch.setattr(checkpoint_part, "FEW_ROW_GROUPS", row_groups)
