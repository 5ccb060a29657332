"""Memory as the pipeline sees it; the only place in the core that imports the MetaDB."""
