"""What earlier sessions learned."""
