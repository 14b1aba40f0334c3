"""The same workloads in PyTorch, eager and compiled: one JSON line each, synchronised medians."""

import json
import statistics
import time

import torch

DEVICE = "cuda"
BIG = (8192, 8192)
SECONDS = 1.0


def uniform(*shape, dtype=torch.float32):
    return (torch.rand(*shape, device=DEVICE) * 2 - 1).to(dtype)


def run(name, work, peer="torch"):
    def once():
        start = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        del result
        return (time.perf_counter() - start) * 1e3

    first = once()
    for _ in range(5):
        once()
    times, start = [], time.perf_counter()
    while len(times) < 10 or time.perf_counter() - start < SECONDS:
        times.append(once())
    row = {"peer": peer, "name": name, "median_ms": round(statistics.median(times), 5)}
    print(json.dumps(row | {"min_ms": round(min(times), 5), "first_ms": round(first, 1)}), flush=True)


def adds(start, one):
    for _ in range(1000):
        start = start + one
    return start


def chain(x, y):
    return torch.relu(x * 2.0 + y).exp() * 0.5


def main():
    torch.manual_seed(42)
    one, zero = torch.ones(1, device=DEVICE), torch.zeros(1, device=DEVICE)
    run("op_overhead_1k", lambda: adds(zero, one))
    x, y = uniform(*BIG), uniform(*BIG)
    run("fused_chain_64m", lambda: chain(x, y))
    compiled = torch.compile(chain)
    run("fused_chain_64m", lambda: compiled(x, y), "torch.compile")
    run("sum_all_64m", lambda: x.sum())
    run("sum_rows_8192", lambda: x.sum(1))
    run("sum_columns_8192", lambda: x.sum(0))
    run("argmax_rows_8192", lambda: x.argmax(1))
    run("softmax_8192", lambda: x.softmax(1))
    run("transpose_copy_8192", lambda: x.t().contiguous())
    for name, size, dtype in [
        ("matmul_4096_f32", 4096, torch.float32),
        ("matmul_4096_f16", 4096, torch.float16),
        ("matmul_8192_bf16", 8192, torch.bfloat16),
    ]:
        a, b = uniform(size, size, dtype=dtype), uniform(size, size, dtype=dtype)
        run(name, lambda: a @ b)
        if dtype == torch.float32:
            run("matmul_4096_f32_transposed", lambda: a @ b.t())
    a, b = uniform(1, 8192, dtype=torch.bfloat16), uniform(*BIG, dtype=torch.bfloat16)
    run("matvec_8192_bf16", lambda: a @ b)
    a, b = (uniform(4096, 4096, dtype=torch.bfloat16) for _ in range(2))
    bias = uniform(4096, dtype=torch.bfloat16)
    run("linear_relu_4096_bf16", lambda: torch.relu(torch.addmm(bias, a, b)))


if __name__ == "__main__":
    main()
