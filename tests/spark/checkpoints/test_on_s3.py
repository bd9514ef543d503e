"""Tasks write the checkpoint of a table on S3 there."""

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.spark.checkpoints.both_engines import HINT, request_of
from tests.support import matrix
from tests.support.logs.delta_logs import LogBuilder, add, remove


@matrix("parts", [None, 2], often=[2])
def test_a_table_on_s3_gets_its_checkpoint_from_the_tasks(spark, s3, tmp_path, parts):
    from deltaweb.spark.checkpoint import build_checkpoint
    from deltaweb.storage.place import TablePlace

    log = LogBuilder().start(*(add(f"f{n}") for n in range(20)))
    log.commit(1, remove("f1"), add("g"))
    folder = log.on_disk(tmp_path / "table")
    bucket = s3.new_bucket()
    s3.upload(folder, bucket, "lake/ä b")
    source = TablePlace(f"s3://{bucket}/lake/ä b", s3.options)

    written = build_checkpoint(spark, source, request_of(parts=parts))

    store = source.open()
    assert store.list_names_from("") == sorted(
        [*log.store.log_files, *written.names, HINT]
    )
    for version in (0, 1):
        store.delete(commit_name(version))
    snapshot = DeltaTable(source.location, s3.options).snapshot()
    assert snapshot.version == 1
    assert snapshot.num_files == written.num_files == 20
