"""Sources of the page: each reads one kind of stream through its public interface, and puts records into an inbox."""
