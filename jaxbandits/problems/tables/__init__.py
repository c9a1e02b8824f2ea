"""Arms that resample tables, and arms whose pulls are joint."""
