"""The record of calls and changes: its pages, its charts, and the counts of use."""
