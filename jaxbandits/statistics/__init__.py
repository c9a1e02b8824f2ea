"""Statistics of an algorithm's arms: counts, means, variances, robust means, and confidence radii."""
