"""Operations on a table's definition: a file for what each changes of it."""
