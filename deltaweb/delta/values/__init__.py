"""Values of columns: in partition values, statistics, data files and Python."""
