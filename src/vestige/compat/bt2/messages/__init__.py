"""Messages, as read and as made."""
