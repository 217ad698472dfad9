"""What is kept, checked again from its evidence."""
