"""Draw all pictures again: `python -m docs.drawings`."""

from pathlib import Path

from docs.drawings.gallery import PICTURES

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        path = Path(__file__).parents[1] / "pictures" / f"{name}.svg"
        path.write_text(draw().svg(), encoding="utf-8", newline="\n")
