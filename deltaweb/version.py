"""The version, read from the newest heading of CHANGELOG.md by a test."""

VERSION = "0.8.8"
__version__ = VERSION
