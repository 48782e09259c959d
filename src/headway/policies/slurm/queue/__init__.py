"""Who goes before whom: the order of the queue, usage, rights to preempt, bounds on resources."""
