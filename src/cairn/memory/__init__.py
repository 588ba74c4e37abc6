"""What earlier sessions learned: events and their fold, sessions, capture, life cycle, recall and injection."""
