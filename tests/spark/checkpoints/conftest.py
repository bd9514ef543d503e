"""Checkpoints that differ are shown in full."""

import pytest

pytest.register_assert_rewrite("tests.spark.checkpoints.both_engines")
