"""The files of the newest version as typed columns, and their size distribution."""
