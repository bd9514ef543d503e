"""The pages of operations: their texts, their forms, and the steps of a visit."""
