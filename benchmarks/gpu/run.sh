#!/usr/bin/env bash
# On a machine with an NVIDIA GPU, beside the program that `cargo xtask gpu` built: the sample table in its modes, the
# speed table twice (the second time everything is compiled and tuned), and PyTorch beside it if it is there.
# usage: run.sh FOLDER-FOR-RESULTS [table|speed|all]
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="$1"
what="${2:-all}"
mkdir -p "$out"
gpu="$here/gpu"

if [ "$what" != speed ]; then
    echo "== sample table"
    for autotune in 1 0; do
        for mode in unfused fused lowering same-bits; do
            BURN_AUTOTUNE=$autotune "$gpu" table "$mode" >"$out/table-$mode-autotune-$autotune.log" 2>&1 &
        done
    done
    wait
    grep -E '^(passed|FAILED)' "$out"/table-*.log
fi
if [ "$what" != table ]; then
    for pass in first second; do
        echo "== speed, $pass time"
        start=$(date +%s)
        "$gpu" speed --label "$([ $pass = first ] && echo 'ours (first run)' || echo ours)" | tee "$out/speed-$pass.jsonl"
        echo "took $(($(date +%s) - start)) s"
    done
    if python3 -c 'import torch' 2>/dev/null; then
        python3 "$here/torch_peer.py" | tee "$out/torch.jsonl"
    else
        echo "PyTorch is not installed: its columns are left out"
    fi
    name="$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
    "$gpu" report "$name, $(date +%F)" "$out"/speed-second.jsonl "$out"/torch*.jsonl >"$out/speed.md"
    cat "$out/speed.md"
fi
