"""The interface to agents: their hooks' reports, the answers to these, and the particulars of each agent."""
