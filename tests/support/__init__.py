"""What the tests share: the LTTng environment, compilers and the peers to compare with."""
