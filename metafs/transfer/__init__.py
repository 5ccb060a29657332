"""What past problems let expect of a new one: rules on plain values, without a database."""
