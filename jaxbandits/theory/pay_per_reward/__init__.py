"""What the proofs of MAB-PPR say of its costs, and of its constants (Sabato 2019)."""
