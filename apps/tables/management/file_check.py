"""`deltaweb table check-files`: which data files of every version are there."""

from django.utils import timezone

from apps.pages.command import AddSubcommand, Output, SubcommandsCommand
from apps.tables import services
from apps.tables.file_checking import keep_check
from apps.tables.locations import check_present
from apps.tables.opening import open_table
from deltaweb.index.file_check import check_files
from deltaweb.index.history.commit_facts import counted


class FileCheckSubcommand(SubcommandsCommand):
    """The subcommand that lists the storage of a registered table, at once."""

    def add_file_check(self, add: AddSubcommand) -> None:
        """Add the subcommand."""
        parser = add(
            "check-files", self.check_files, help="see which data files are there"
        )
        parser.add_argument("name")

    def check_files(self, *, name: str, **_: object) -> Output:
        """List the storage once and count what every version lacks."""
        table = services.find_table(name)
        check_present(table.location)
        check = check_files(open_table(table, roots=None))
        facts = keep_check(table, check, now=timezone.now())
        missing = check.missing.to_pylist()
        data = {
            "name": table.full_name,
            "location": table.location,
            **facts,
            "versions": [
                {
                    "first": row["first_version"],
                    "last": row["last_version"],
                    "num_files": row["num_files"],
                    "num_missing": row["num_missing"],
                    "vacuum_version": row["vacuum_version"],
                }
                for row in missing
            ],
        }
        text = (
            f"{facts['num_complete']:,} of {counted(check.num_versions, 'version')} "
            f"can be read in full; {facts['num_partly']:,} lack some files, "
            f"{facts['num_gone']:,} all of them. Of "
            f"{counted(check.num_paths, 'file')}, {check.num_missing:,} "
            f"{'is' if check.num_missing == 1 else 'are'} not in storage."
        )
        lines = (_line(row) for row in missing)
        return Output(data, text, lines)


def _line(row: dict[str, int]) -> str:
    first, last = row["first_version"], row["last_version"]
    versions = f"v{first}" if first == last else f"v{first} to v{last}"
    there = row["num_files"] - row["num_missing"]
    return f"  {versions}: {there:,} of {counted(row['num_files'], 'file')}"
