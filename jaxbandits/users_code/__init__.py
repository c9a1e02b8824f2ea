"""Which code of the user a run depends on, and whether it has changed; no simulation."""
