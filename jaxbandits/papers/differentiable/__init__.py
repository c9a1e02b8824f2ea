"""Derivatives of what is expected, and what they are good for: tuning, and hard instances. No paper's figures: ours."""
