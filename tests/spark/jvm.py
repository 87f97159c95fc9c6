"""Options of the JVMs that tests start: they live for a minute or two."""

__all__ = ["HASTY"]

# No time for the best machine code, for many small collections, or to verify Spark's own classes.
HASTY = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn400m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
