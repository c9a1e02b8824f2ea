"""Rules that pull all arms, or all remaining arms, equally often: races, medians, union bounds."""
