"""The targets of every suite as data, one module for each, and the bars that compare them with what was measured."""
