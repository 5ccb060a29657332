"""What was learned on problems: linear models, pipelines that were tried, files of saved models."""
