"""Costs of runs: pulls, joint pulls, costs, and a budget of cost paid pull by pull."""
