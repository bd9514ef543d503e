"""A version of a shared table as one recipient is offered it: the one way to files.

Every door asks here, so that no file is handed out that `classify` did not judge.
"""

from dataclasses import dataclass
from datetime import datetime

from apps.sharing.access.grants.prepared import (
    as_table,
    find_files,
    keys_of,
    note_use,
)
from apps.sharing.access.grants.rules import BoundRule, TableRule
from apps.sharing.models import PreparedFile, PreparedVersion, SharedTable
from deltaweb.index.query.classification import ClassifiedPart, classify
from deltaweb.index.query.restricted_version import RestrictedVersion
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import VersionNotReadyError


@dataclass(frozen=True, slots=True, eq=False)
class RuledVersion:
    """A version under a rule, and what of it is ready.

    Attributes:
        keys: Of the files to be rewritten, a list a part.
    """

    version: SharedVersion
    bound: BoundRule
    classified: list[ClassifiedPart]
    keys: list[list[str]]
    ready: dict[str, PreparedFile]

    @property
    def num_missing(self) -> int:
        """How many files are not rewritten yet."""
        return sum(key not in self.ready for keys in self.keys for key in keys)

    def files(self) -> list[PreparedFile]:
        """Return the rewritten files; all are ready."""
        return [self.ready[key] for keys in self.keys for key in keys]


def ruled_version(
    shared: SharedTable, rule: TableRule, version: SharedVersion
) -> RuledVersion:
    """Return a version under a rule."""
    bound = rule.bind(version)
    classified = classify(version, bound.files)
    keys = keys_of(shared, rule.digest, bound.shape, classified)
    ready = find_files(shared, rule.digest) if any(keys) else {}
    return RuledVersion(version, bound, classified, keys, ready)


def offered_version(
    shared: SharedTable, rule: TableRule, version: SharedVersion, *, now: datetime
) -> SharedVersion:
    """Return a version as a rule leaves it."""
    if rule.is_whole:
        return version
    ruled = ruled_version(shared, rule, version)
    if ruled.num_missing:
        raise VersionNotReadyError(table=shared.full_name, version=version.version)
    files = ruled.files()
    note_use(files, now=now)
    return RestrictedVersion(
        version,
        metadata=ruled.bound.metadata,
        schema=ruled.bound.schema,
        classified=ruled.classified,
        prepared=as_table(files),
    )


def ready_versions(shared: SharedTable, rule: TableRule) -> list[int]:
    """Return the versions that were ready under a rule, the newest first."""
    found = PreparedVersion.objects.filter(shared_table=shared, rule=rule.digest)
    return list(found.order_by("-version").values_list("version", flat=True)[:20])
