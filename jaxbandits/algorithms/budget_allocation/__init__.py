"""Rules that allocate a simulation budget by estimated means and variances."""
