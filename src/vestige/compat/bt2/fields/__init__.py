"""Fields and their classes, as read and as made."""
