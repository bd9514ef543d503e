import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError

from apps.sharing.issuing.profile import new_profile
from apps.sharing.recipients.changes.profile_file import check_free, write_profile

PROFILE = new_profile(
    recipient_name="acme",
    secret="dwt_secret",
    ends_at=datetime(2027, 1, 1, tzinfo=UTC),
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestWriteProfile:
    @pytest.mark.parametrize("force", [False, True])
    def test_is_for_its_owner_alone_whatever_the_umask(self, tmp_path, *, force):
        path = tmp_path / "acme.share"
        before = os.umask(0)
        try:
            write_profile(PROFILE, path, force=force)
        finally:
            os.umask(before)

        assert path.read_text() == PROFILE.to_json()
        assert mode(path) == 0o600

    def test_with_force_replaces_a_link_and_not_what_it_points_at(self, tmp_path: Path):
        precious, path = tmp_path / "precious", tmp_path / "acme.share"
        precious.write_text("precious")
        path.symlink_to(precious)

        write_profile(PROFILE, path, force=True)

        assert precious.read_text() == "precious"
        assert not path.is_symlink()

    def test_without_force_follows_no_link(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        path.symlink_to(tmp_path / "elsewhere")

        for attempt in (
            check_free,
            lambda p, force: write_profile(PROFILE, p, force=force),
        ):
            with pytest.raises(CommandError, match="exists already"):
                attempt(path, force=False)
        assert not (tmp_path / "elsewhere").exists()

    def test_a_failure_leaves_nothing_and_shows_no_secret(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="cannot be written") as caught:
            write_profile(PROFILE, tmp_path / "none" / "acme.share", force=False)

        assert "dwt_secret" not in str(caught.value)
        assert list(tmp_path.iterdir()) == []
