"""Operations on tables: each looked at first, agreed to, then done by the same code."""
