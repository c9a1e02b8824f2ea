"""Ask and tell: an algorithm in a live experiment, whose rewards come from outside."""
