"""Random examples are never timed: a machine that is busy, or a kernel that is compiled first, is no failure."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
os.environ["SASH_COMPILE"] = "always"  # a compiled test runs what is compiled, also on few rows
