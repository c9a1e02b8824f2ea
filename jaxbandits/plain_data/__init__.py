"""What text can hold: values, arrays, files and axes as plain data."""
