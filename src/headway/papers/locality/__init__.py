"""Gonthier et al.: locality-aware batch scheduling of jobs sharing input files.

The slides of June 2022 and the drafts after them: scores of files on nodes and policies for memory sizes, on
generated weeks (light and saturated) or on weeks of logs, with what the authors say beside what we get; then
a search over the weights of the score, a faster file system, and files kept until the memory is full.
"""
