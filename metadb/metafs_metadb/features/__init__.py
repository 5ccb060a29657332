"""What is known of features: names, history, meta-features."""
