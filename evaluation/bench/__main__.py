"""Run the bench as `python -m evaluation.bench`."""

from evaluation.bench.command import bench

if __name__ == "__main__":
    bench()
