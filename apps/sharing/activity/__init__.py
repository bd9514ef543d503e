"""The record of calls and changes, and the counts of use."""
