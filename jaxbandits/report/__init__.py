"""Results of a Dataset: tables, pictures, and a gallery page."""
