"""What is at an address: places, and their texts."""
