"""Which nodes a job gets: what each can offer it, and the choice among them."""
