"""The pages of operations: what each says, its form, and one visit of it."""
