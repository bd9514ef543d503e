"""Lifetimes of sessions and API keys, and their suspension."""
