"""Operations on arrays: arms first, runs last; the same bits in every batch of runs."""
