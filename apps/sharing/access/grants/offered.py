"""A version of a shared table as one recipient is offered it: the one way to files.

Every door asks here, so that no file is handed out that `classify` did not judge.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from apps.sharing.access.grants.prepared import (
    as_table,
    find_files,
    keys_of,
    note_use,
)
from apps.sharing.access.grants.rules import BoundRule, TableRule
from apps.sharing.models import PreparedFile, PreparedVersion, SharedTable
from deltaweb.index.query.classification import ClassifiedPart, classify
from deltaweb.index.query.file_part import Rows
from deltaweb.index.query.restricted_version import RestrictedVersion
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.compatibility import fields_of, primitives
from deltaweb.sharing.errors import FileCopyError, VersionNotReadyError

VARIANT: Final = "variant"


@dataclass(frozen=True, slots=True, eq=False)
class RuledVersion:
    """A version under a rule, and what of it is ready.

    Attributes:
        keys: Of the files to be rewritten, a list a part.
        stored: Files that were to be rewritten, and are plain as they are.
    """

    version: SharedVersion
    bound: BoundRule
    classified: list[ClassifiedPart]
    keys: list[list[str]]
    ready: dict[str, PreparedFile]
    stored: list[PreparedFile]

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
    if any(keys):
        _check_copies(shared, bound)
    found = find_files(shared, rule.digest) if any(keys) else {}
    ready = {key: file for key, file in found.items() if not file.is_stored}
    # A file may have lost the statistics that proved that all of its rows are seen.
    plain = {
        key
        for part, names in zip(classified, keys, strict=True)
        for key, is_checked in zip(names, part.checked[part.rewritten], strict=True)
        if is_checked and key in found and key not in ready
    }
    if plain:
        classified = [
            part.with_signed(_rows_of(part, names, plain))
            for part, names in zip(classified, keys, strict=True)
        ]
        keys = [[key for key in names if key not in plain] for names in keys]
    stored = [found[key] for key in plain]
    return RuledVersion(version, bound, classified, keys, ready, stored)


def _check_copies(shared: SharedTable, bound: BoundRule) -> None:
    """Refuse to rewrite variants, which are read as JSON text."""
    for name, field in fields_of(bound.schema):
        if VARIANT in primitives(field.data_type):
            raise FileCopyError(table=shared.full_name, column=name)


def _rows_of(part: ClassifiedPart, keys: list[str], plain: set[str]) -> Rows:
    """Return the rows of files that are plain, of those that are to be rewritten."""
    is_plain = np.array([key in plain for key in keys], np.bool_)
    return np.flatnonzero(part.rewritten)[is_plain]


def offered_version(
    shared: SharedTable, rule: TableRule, version: SharedVersion, *, now: datetime
) -> SharedVersion:
    """Return a version as a rule leaves it."""
    if rule.is_stored:
        return version
    ruled = ruled_version(shared, rule, version)
    if ruled.num_missing:
        raise VersionNotReadyError(table=shared.full_name, version=version.version)
    files = ruled.files()
    note_use([*files, *ruled.stored], now=now)
    return RestrictedVersion(
        version,
        protocol=ruled.bound.protocol,
        metadata=ruled.bound.metadata,
        schema=ruled.bound.schema,
        classified=ruled.classified,
        prepared=as_table(files),
    )


def ready_versions(shared: SharedTable, rule: TableRule) -> list[int]:
    """Return the versions that were ready under a rule, the newest first."""
    found = PreparedVersion.objects.filter(shared_table=shared, rule=rule.digest)
    return list(found.order_by("-version").values_list("version", flat=True)[:20])
