"""The index of every recorded table tells what is recorded of its versions.

Every run indexes some tables, and all whose log is broken; `-m exhaustive` the others.
"""

import shutil
from pathlib import Path

from deltaweb.index.folder.file_index import open_files
from tests.support import matrix
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)
from tests.support.golden.golden_tables import (
    NAMES,
    SOME_NAMES,
    expected_of,
    golden_folder,
    golden_table,
    some_golden_tables,
)
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import (
    NOT_COMPARED,
    commit_rows,
    contents,
    without,
)

# A checkpoint that was edited by hand says another thing than the commits do, which are
# what an index goes on by.
AT_ODDS_WITH_ITS_CHECKPOINT = "kernelrs__parquet_row_group_skipping"


BROKEN = [name for name in NAMES if expected_of(name)["expect"] != "ok"]


@matrix("name", NAMES, often=[*SOME_NAMES, *BROKEN])
def test_index_tells_what_is_recorded(name: str, tmp_path: Path) -> None:
    record = expected_of(name)

    result = build_index(str(golden_folder(name)), None, tmp_path / "index")

    if result.state == "FAILED":
        assert record["expect"] != "ok"
        assert result.error
        assert result.error_code != "internal-error"
        return
    assert result.version == record.get("latest_version", result.version)
    commits = {row["version"]: row for row in commit_rows(tmp_path / "index")}
    compared = 0
    for text, version in record.get("versions", {}).items():
        commit = commits.get(int(text))
        if commit is None or commit["readability"] == "UNSUPPORTED":
            continue
        if "num_files" not in version:  # recorded as an error
            assert commit["readability"] == "GONE"
            assert commit["num_files"] is None
            continue
        compared += 1
        assert commit["num_files"] == version["num_files"]
        assert commit["size_bytes"] == version["total_bytes"]
    found = snapshot_or_refusal(golden_table(name))
    has_commits = record["commit_files"]["count"] > 0
    may_differ = record["expect"] != "ok" or is_of_unread_features(found)
    assert compared or not has_commits or may_differ
    if result.state == "INDEXED":
        assert open_files(tmp_path / "index").num_rows == result.num_files


@some_golden_tables
def test_index_goes_on_from_the_version_before(name: str, tmp_path: Path) -> None:
    recorded = golden_folder(name) / "_delta_log"
    newest = max((path.name for path in recorded.glob("*.json")), default="")
    table = tmp_path / "table"
    log = table / "_delta_log"
    log.mkdir(parents=True)
    files = [path for path in recorded.glob("*") if path.is_file()]
    for path in files:
        if path.name[:20] < newest[:20]:
            shutil.copy2(path, log)
    base = build_index(str(table), None, tmp_path / "base", now_ms=0)
    for path in files:
        shutil.copy2(path, log)

    result = build_index(
        str(table), None, tmp_path / "next", base=base.folder or None, now_ms=0
    )
    if name == AT_ODDS_WITH_ITS_CHECKPOINT:
        for path in log.glob("*.checkpoint.*"):
            path.unlink()
    fresh = build_index(str(table), None, tmp_path / "fresh", now_ms=0)

    facts = [without(one.to_json(), *NOT_COMPARED) for one in (result, fresh)]
    assert facts[0] == facts[1]
    if fresh.folder:
        assert contents(tmp_path / "next") == contents(tmp_path / "fresh")
