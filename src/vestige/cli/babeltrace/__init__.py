"""What a program named ``babeltrace2`` does other than ``vestige``."""
