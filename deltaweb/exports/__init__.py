"""Rows as files that other programs open: XLSX for spreadsheets."""
