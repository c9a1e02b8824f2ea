"""Every suitable algorithm on one problem, beside what theory promises."""
