"""What a Dataset says: tables, pictures, and a gallery page."""
