"""What drives the pure core against the ports: the only place with effects.

Read in this order: `cooldown`, `patience`, `chain`, `state`, `journal`, `engine`, `result`,
`meter`, `chat`. Then what plug-ins implement (`contract`), our engines behind it (`contracted`,
`truncating`), where they are found (`plugin_folder`, `registry`), and how one is hosted: `guest`,
`guest_tools`, `translation`, `guest_pass`, `seat`, `hosted`.
"""

from holdfast.engines.chain import Chain
from holdfast.engines.chat import ChatEngine
from holdfast.engines.engine import Engine
from holdfast.engines.result import Compaction
from holdfast.engines.state import Gauges, Setup

__all__ = ["Chain", "ChatEngine", "Compaction", "Engine", "Gauges", "Setup"]
