"""A block of steps as one function of machine code on CPU, compiled by LLVM: the same steps, the same bits, faster."""
