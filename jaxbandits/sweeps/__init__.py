"""A grid in, a labelled Dataset out, and the plain-data specification of both."""
