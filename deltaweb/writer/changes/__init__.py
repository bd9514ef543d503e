"""The result of changing rows: new files, deletion vectors and change data files."""
