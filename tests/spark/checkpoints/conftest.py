"""Checkpoints that differ are told in full, as failed tests are."""

import pytest

pytest.register_assert_rewrite("tests.spark.checkpoints.both_engines")
