"""Rules that pull all arms, or all that are left, equally often: races, medians, union bounds."""
