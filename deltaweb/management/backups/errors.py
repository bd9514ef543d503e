"""The errors of backups."""

from deltaweb.errors import DeltawebError


class BackupError(DeltawebError, code="backup-error"):
    """Base of the errors of backups."""


class BackupDamagedError(BackupError, code="backup-damaged"):
    file: str
    problem: str
    message = "{file} is not a complete backup: {problem}."
    hint = "Nothing was changed. Use another copy of the file."


class BackupPassphraseError(BackupError, code="backup-passphrase"):
    file: str
    message = "{file} cannot be opened: the passphrase is wrong, or the file damaged."
    hint = "Nothing was changed. Use the passphrase with which the backup was made."


class BackupNewerError(BackupError, code="backup-newer"):
    file: str
    made_by: str
    migration: str
    message = "{file} was made by version {made_by}, which has {migration}."
    hint = "Nothing was changed. Install that version or a newer one, then restore."


class DatabaseNotEmptyError(BackupError, code="database-not-empty"):
    model: str
    count: int
    message = "The database is in use: rows of {model}: {count}."
    hint = "Restore into an empty database, or replace all that is in it by --replace."


class DatabaseDamagedError(BackupError, code="database-damaged"):
    file: str
    problem: str
    message = "The database {file} is damaged: {problem}."
    hint = "Stop the server, and replace it by --replace. The damaged file is kept."


class DatabaseNewerError(BackupError, code="database-newer"):
    migration: str
    message = "The database has {migration}, which this version does not know."
    hint = "Install the version that made the database, or a newer one."


class BackupExistsError(BackupError, code="backup-exists"):
    file: str
    message = "{file} exists."
    hint = "Choose another name: a backup replaces no file."


class PassphraseMissingError(BackupError, code="passphrase-missing"):
    message = "No passphrase was given."
    hint = (
        "Set DELTAWEB_BACKUP_PASSPHRASE or DELTAWEB_BACKUP_PASSPHRASE_FILE, run the "
        "command in a terminal, or write an unencrypted file by --plain."
    )


class RowNotRestoredError(BackupError, code="row-not-restored"):
    model: str
    problem: str
    message = "Rows of {model} do not fit this database: {problem}."
    hint = "Nothing was changed."
