"""Error analysis of units and programs: bounds with attaining inputs, distances, figures, papers."""
