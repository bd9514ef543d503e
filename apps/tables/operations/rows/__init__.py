"""Operations on rows: deleted, updated, merged, here or by Spark."""
