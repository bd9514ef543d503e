"""Rows dealt out to their partitions, and one data file while it is written."""
