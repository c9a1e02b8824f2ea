"""Rules that answer a question about the means: one general rule, and questions for it."""
