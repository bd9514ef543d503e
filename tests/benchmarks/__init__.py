"""What `make bench` measures: each module prints its ratios beside their goals."""
