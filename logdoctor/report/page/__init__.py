"""The rooms of the HTML page: tags, sections, charts, and the style and script that are written into it."""
