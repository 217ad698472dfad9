"""The vendors' units: rules and tables of facts from which every legal name follows."""
