"""Operations on arrays: arms first, runs last; the same bits however runs are batched."""
