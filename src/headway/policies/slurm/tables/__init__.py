"""What Slurm's controller knows: its tables by what their rows are of, and all of them in one tuple."""
