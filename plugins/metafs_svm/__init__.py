"""Selection by linear support vector machines."""
