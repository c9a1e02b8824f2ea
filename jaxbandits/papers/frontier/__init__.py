"""The frontier of fixed confidence and fixed budget: rules beside bounds, each other and published numbers."""
