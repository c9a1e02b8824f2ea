"""Phase diagrams with a thousand cells each: measured colour under lines of what theory says."""
