#!/usr/bin/env bash
# The named workloads of the peers' programs on this framework, `burn` 0.22.1, candle, PyTorch and JAX, interleaved in one
# run, as one table. The peers' programs are no part of the project: PEERS names their folder, which has `burn` (a program
# over burn's public interface, whose one `burn` line is pointed at ours), `candle`, `torch/bench.py` and `jax/bench.py`,
# each printing JSON lines (peer, name, median_ms, min_ms, peak_rss_mb, base_rss_mb). What is absent is left out with a note.
#
# usage: PEERS=FOLDER run.sh [TABLE.md]
#   ROUNDS=3 SECS=0.5     rounds, and seconds for a workload in each
#   WORK=FOLDER           where programs are built, and raw results lie
#   PREFIX="chrt -f 10"   what programs are started with, on a machine that others use too
#   NO_BUILD=1            takes the programs as they were built before
#   ONLY="group group"    some of the groups below
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
repo="$(cd "$here/../.." && pwd)"
peers="${PEERS:?names the folder of the programs of the peers}"
table="${1:-$repo/benchmarks/results/$(date +%F)-cpu.md}"
work="${WORK:-${TMPDIR:-/tmp}/burn-cpu-benchmarks}"
raw="$work/raw.jsonl"
notes="$work/notes"
mkdir -p "$work/bin" "$(dirname "$table")"
: >"$raw"
: >"$notes"

declare -A groups=(
    [elementwise]="op_overhead add_4m fused_chain_4m broadcast_add_1024 gelu_1m int32_add_4m mask_fill_4m random_normal_4m"
    [reduce]="sum_all_4m sum_dim_last sum_dim_first argmax_last softmax_1024x4096 layer_norm_1024 cumsum_1024 sort_1m"
    [matmul]="matmul_256 matmul_1024 matmul_batched_32x128 matvec_4096 matmul_nt_1024 matmul_f16_512"
    [layers]="conv2d_3x3 conv2d_1x1 conv2d_depthwise conv2d_3x3_fwd_bwd max_pool2d attention_causal lstm_forward"
    [movement]="transpose_copy_2048 cat_8x256x1024 gather_1024 embedding_32k_x256"
    [training]="train_mlp train_cnn train_transformer"
    [storage]="save_native load_native save_safetensors load_safetensors"
)
order="${ONLY:-elementwise reduce matmul layers movement training storage}"

# Points the program at ours. While the facade has no `store`, the rows of storage are cut out.
point_at_ours() {
    local to="$work/ours"
    rm -rf "$to"
    mkdir -p "$to"
    cp -r "$peers/burn/Cargo.toml" "$peers/burn/src" "$to/"
    sed -i "s|version = \"=0.22.1\"|path = \"$repo/crates/burn\"|" "$to/Cargo.toml"
    if ! grep -q '^store = ' "$repo/crates/burn/Cargo.toml"; then
        sed -i 's|, features = \["store"\]||' "$to/Cargo.toml"
        sed -i -e '/^ *store::/d' -e '/---- storage/,/remove_dir_all/d' "$to/src/main.rs"
        echo "ours has no storage yet" >>"$notes"
    fi
    grep -q '^autotune = ' "$repo/crates/burn/Cargo.toml" || sed -i '/^cpu = /d' "$to/Cargo.toml"
}

build() { # name, folder, program, arguments of cargo
    local name="$1" folder="$2" program="$3"
    shift 3
    if (cd "$folder" && CARGO_TARGET_DIR="$work/target-$name" cargo build --release "$@") >"$work/build-$name.log" 2>&1; then
        cp "$work/target-$name/release/$program" "$work/bin/$name"
    else
        rm -f "$work/bin/$name"
        echo "$name did not build (its log is build-$name.log of the work folder)" >>"$notes"
    fi
}
if [ -z "${NO_BUILD:-}" ]; then
    if [ -d "$peers/burn" ]; then
        point_at_ours
        build ours "$work/ours" burn-peer --no-default-features --features flex
        build burn "$peers/burn" burn-peer --no-default-features --features flex
    fi
    [ ! -d "$peers/candle" ] || build candle "$peers/candle" candle-peer
fi

contestants=()
for name in ours burn candle; do
    if [ -x "$work/bin/$name" ]; then contestants+=("$name"); else echo "$name is absent" >>"$notes"; fi
done
for name in torch jax; do
    if [ -f "$peers/$name/bench.py" ] && python3 -c "import $name" 2>/dev/null; then
        contestants+=("$name")
    else
        echo "$name is absent" >>"$notes"
    fi
done

# One line for each workload. Compiled programs get a process for each, so that the memory of one is not that of another.
run() {
    local name="$1" secs="${SECS:-0.5}" workload
    shift
    case "$name" in
        # Threads of OpenMP that are not bound may share a core and then wait for each other a tick of the scheduler long.
        torch) OMP_PROC_BIND=true ${PREFIX:-} timeout 600 python3 "$peers/torch/bench.py" --secs "$secs" "$@" ;;
        jax) ${PREFIX:-} timeout 600 python3 "$peers/jax/bench.py" --secs "$secs" "$@" ;;
        *)
            for workload in "$@"; do
                ${PREFIX:-} timeout 120 "$work/bin/$name" --label "$name" --secs "$secs" "$workload" ||
                    echo "{\"peer\":\"$name\",\"name\":\"$workload\",\"error\":\"exit status $?\"}"
            done
            ;;
    esac
}
for round in $(seq "${ROUNDS:-3}"); do
    for group in $order; do
        for name in "${contestants[@]}"; do
            # shellcheck disable=SC2086
            run "$name" ${groups[$group]} 2>>"$work/stderr.log" | grep '^{' >>"$raw" || true
        done
    done
    echo "round $round of ${ROUNDS:-3}" >&2
done

versions="ours $(git -C "$repo" rev-parse --short HEAD 2>/dev/null || echo '?')"
versions="$versions, burn 0.22.1$(sed -n 's/^candle-core.*"=*\([0-9.]*\)".*/, candle \1/p' "$peers/candle/Cargo.toml" 2>/dev/null | head -1)"
for name in torch jax; do
    version="$(python3 -c "import $name; print($name.__version__)" 2>/dev/null)" && versions="$versions, $name $version"
done
python3 "$here/report.py" "$versions" "$notes" "$raw" >"$table"
echo "$table"
