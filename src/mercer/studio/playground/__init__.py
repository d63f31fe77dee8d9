"""The playground's scene: data, presets, recorded steps, exported code."""
