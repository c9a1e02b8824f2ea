"""What runs have spent: pulls, joint pulls, costs, and a budget of cost paid pull by pull."""
