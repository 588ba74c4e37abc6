"""Cairn for agents over the Model Context Protocol: a few tools, their texts, and two transports."""
