"""Rules of ranking and selection: normal rewards with unknown variances, and a best arm that leads by epsilon."""
