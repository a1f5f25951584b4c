"""Makes the modules beside the tests importable: the reference, the random designs, the mutations of files."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
