"""Operations that write no rows: each says what would be committed, or would go."""
