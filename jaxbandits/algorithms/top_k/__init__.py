"""Rules that return the best K of many arms."""
