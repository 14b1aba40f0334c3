"""Coefficients of `gelu` in `math.rs`: erf(x) / x up to 3.93 as a quotient of polynomials of degree 5 in x^2.

Weighted least squares for P - y Q, with weights that follow the error (Lawson 1961), come close to the least relative error;
then the error of an evaluation in single precision with fused multiply-add. Needs numpy and scipy.
"""
import numpy as np
from scipy.special import erf

DEGREE, EDGE, NODES = 5, 3.93, 4000

x = EDGE * (0.5 - 0.5 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES))
u, y = (x / EDGE) ** 2, erf(x) / x
above = u[:, None] ** np.arange(DEGREE + 1)
below = u[:, None] ** np.arange(1, DEGREE + 1)
matrix = np.concatenate([above, -y[:, None] * below], axis=1)
lawson, quotient, best = np.ones(NODES), np.ones(NODES), None
for _ in range(400):
    weight = np.sqrt(lawson) / (y * np.abs(quotient))
    c, *_ = np.linalg.lstsq(matrix * weight[:, None], y * weight, rcond=None)
    quotient = 1 + below @ c[DEGREE + 1:]
    error = np.abs(above @ c[:DEGREE + 1] / quotient - y) / y
    if best is None or error.max() < best[0]:
        best = error.max(), c
    lawson *= (error / error.max() + 1e-3) ** 0.7
    lawson /= lawson.mean()
size, c = best
scale = EDGE ** (2.0 * np.arange(DEGREE + 1))
p, q = c[:DEGREE + 1] / scale, np.concatenate([[1], c[DEGREE + 1:]]) / scale
print("relative error 2^%.1f" % np.log2(size))
print("above", ["%.9g" % it for it in p])
print("below", ["%.9g" % it for it in q])


def horner(t, coefficients):
    total = np.full_like(t, np.float32(coefficients[-1]))
    for it in coefficients[-2::-1]:
        total = (total.astype(float) * t + float(np.float32(it))).astype(np.float32)
    return total


s = np.concatenate([np.linspace(1e-6, 4.2, 2_000_001), np.logspace(-20, -1, 200_001)]).astype(np.float32)
b = np.minimum(s, np.float32(EDGE))
t = (b * b).astype(np.float32)
found = np.minimum((b * horner(t, p) / horner(t, q)).astype(np.float32), np.float32(1))
exact = erf(s.astype(float))
print("largest error %.2f ulp" % np.max(np.abs(found - exact) / np.spacing(exact.astype(np.float32))))
