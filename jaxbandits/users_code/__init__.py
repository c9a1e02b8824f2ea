"""The user's code that a run depends on, and whether it has changed; no simulation."""
