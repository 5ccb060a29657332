"""Selection by margins: Relief and its family, Simba and G-flip."""
