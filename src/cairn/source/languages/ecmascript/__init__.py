"""What JavaScript, TypeScript and TSX share."""
