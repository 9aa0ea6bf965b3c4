"""What measures Rejoinder."""
