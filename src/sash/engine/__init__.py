"""RUN a plan on arrays, in this process."""
