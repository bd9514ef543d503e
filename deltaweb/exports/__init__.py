"""The writers of files that other programs open: XLSX for spreadsheets."""
