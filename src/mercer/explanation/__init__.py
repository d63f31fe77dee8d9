"""Why a model decides as it does: parts that add up to its decision value."""
