"""One Markdown table from JSON lines of several programs: a row a workload, a column a program, and what the ratios are.

usage: report.py VERSIONS NOTES-FILE RAW.jsonl
"""
import datetime
import json
import math
import os
import platform
import statistics
import sys

PEERS = ["burn", "candle", "torch", "jax"]
# Of this workload a call is 10,000 additions; its row is in ns for one.
OVERHEAD = "op_overhead"


def read(path):
    """Rows in order, and for each row and program its figures."""
    rows, figures, errors = [], {}, {}
    for line in open(path):
        line = json.loads(line)
        name, peer = line["name"], line["peer"]
        if name not in rows:
            rows.append(name)
        if "error" in line:
            errors[name, peer] = line["error"]
        else:
            figures.setdefault((name, peer), []).append(line)
    return rows, figures, errors


def shown(name, ms):
    if name == OVERHEAD:
        return f"{ms * 100:.0f} ns"
    return f"{ms:.1f}" if ms >= 100 else f"{ms:.2f}" if ms >= 1 else f"{ms:.3f}"


def mean(ratios):
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def times(rows, programs, value):
    """The table of one figure, with geometric means."""
    others = [peer for peer in PEERS if peer in programs]
    print("| workload | " + " | ".join(programs) + " | " + " | ".join(f"{peer} / ours" for peer in others)
          + " | ours / best peer |")
    print("|---|" + "---:|" * (len(programs) + len(others) + 1))
    ratios = {peer: [] for peer in others}
    to_best, slower, far = [], [], []
    for name in rows:
        cells = {program: value(name, program) for program in programs}
        there = {program: ms for program, ms in cells.items() if ms is not None}
        if not there:
            continue
        ours = there.get("ours")
        line = []
        for program in programs:
            ms = cells[program]
            text = "" if ms is None else shown(name, ms)
            line.append(f"**{text}**" if ms == min(there.values()) else text)
        for peer in others:
            ratio = there[peer] / ours if ours and peer in there else None
            line.append("" if ratio is None else f"{ratio:.2f}")
            if ratio is not None:
                ratios[peer].append(ratio)
        peers = [there[peer] for peer in others if peer in there]
        best = ours / min(peers) if ours and peers else None
        line.append("" if best is None else f"{best:.2f}")
        if best is not None:
            to_best.append(best)
            if best > 1.2:
                far.append(f"`{name}` {best:.2f}")
            if there.get("burn", math.inf) < ours:
                slower.append(f"`{name}`")
        print(f"| {name} | " + " | ".join(line) + " |")
    means = [mean(ratios[peer]) for peer in others] + [mean(to_best)]
    print("| **geometric mean** | " + " | " * len(programs)
          + " | ".join("" if it is None else f"**{it:.2f}**" for it in means) + " |")
    print()
    print("Slower than `burn` 0.22.1: " + (", ".join(slower) or "no row") + ".")
    print("More than 1.2 times the best peer: " + (", ".join(far) or "no row") + ".\n")


def memory(rows, programs, figures):
    print("## Peak of resident memory, MiB\n")
    print("Before a workload and at its peak; compiled programs have a process for each workload. What an interpreter and "
          "its libraries take before is in the first figure.\n")
    print("| workload | " + " | ".join(programs) + " |")
    print("|---|" + "---:|" * len(programs))
    for name in rows:
        line = []
        for program in programs:
            all_of = figures.get((name, program))
            line.append("" if not all_of else "{:.0f} → {:.0f}".format(
                min(it["base_rss_mb"] for it in all_of), min(it["peak_rss_mb"] for it in all_of)))
        if any(line):
            print(f"| {name} | " + " | ".join(line) + " |")


def main():
    versions, notes, raw = sys.argv[1:4]
    rows, figures, errors = read(raw)
    programs = [program for program in ["ours", *PEERS] if any(peer == program for _, peer in figures)]
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
               platform.machine())
    print(f"# {os.cpu_count()} cores ({cpu}), {platform.system()}, {datetime.date.today()}\n")
    print(f"By `benchmarks/cpu/run.sh`: {versions}. ms for a call, programs interleaved; the fastest in bold.\n")

    def low(name, program):
        return min((it["min_ms"] for it in figures.get((name, program), [])), default=None)

    def middle(name, program):
        medians = [it["median_ms"] for it in figures.get((name, program), [])]
        return statistics.median(medians) if medians else None

    print("## Fastest call\n")
    print("Least disturbed by whatever else the machine does.\n")
    times(rows, programs, low)
    print("## Median of the rounds' medians\n")
    times(rows, programs, middle)
    memory(rows, programs, figures)
    left_out = [line.strip() for line in open(notes) if line.strip()]
    left_out += [f"{peer} fails at `{name}`: {error}" for (name, peer), error in errors.items()
                 if (name, peer) not in figures]
    if left_out:
        print("\n## Left out\n")
        for note in left_out:
            print(f"- {note}")


main()
