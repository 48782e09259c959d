"""From a site and a log to the controller's tables, and what is told of a run afterwards."""
