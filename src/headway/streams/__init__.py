"""Logs larger than memory: read, simulated and written as they go."""

from headway.streams.running import Streamed as Streamed
from headway.streams.running import simulate_stream as simulate_stream
