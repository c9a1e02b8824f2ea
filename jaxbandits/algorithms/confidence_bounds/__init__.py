"""Rules that pull by confidence bounds: LUCB and its kin, UGapE, UCB-E, GapE, APT."""
