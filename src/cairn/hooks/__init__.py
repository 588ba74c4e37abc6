"""Where Cairn meets agents: what their hooks report, what they are answered, and what each agent has of its own."""
