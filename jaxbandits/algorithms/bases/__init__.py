"""What algorithms are made of: the protocol, its base classes and their states, traits and hyperparameters."""
