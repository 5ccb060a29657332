"""The face for plugin authors: hooks, registry, the base of selectors, priors, signatures."""
