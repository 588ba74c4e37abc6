"""What agents see of Cairn over the Model Context Protocol: few tools, their texts, and two ways to reach them."""
