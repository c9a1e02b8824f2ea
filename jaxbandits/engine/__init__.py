"""The engine: single runs, trajectories, and lanes that work through a queue of jobs."""
