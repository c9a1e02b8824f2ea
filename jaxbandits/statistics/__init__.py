"""What an algorithm knows of its arms: counts, means, variances, robust means, and confidence radii."""
