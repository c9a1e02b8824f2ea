"""Values, arrays, files and axes as plain data that text can hold."""
