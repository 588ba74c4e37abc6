"""What JavaScript, TypeScript and TSX share: the folder of no language of its own."""
