"""ragcov's scorers inside other evaluation frameworks; each module needs the framework that it is named after."""
