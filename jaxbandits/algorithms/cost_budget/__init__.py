"""Rules that spend a budget of cost, and rules on arms of a reservoir."""
