"""Rules that pull by confidence bounds: LUCB and its variants, UGapE, UCB-E, GapE, APT."""
