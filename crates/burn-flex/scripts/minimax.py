"""Computes the polynomial coefficients in src/math.rs. Needs mpmath 1.3.

For each function: the polynomial P of the given degree that minimises the largest |target - P| * weight on an
interval, by the exchange algorithm of Remez (Cheney, Introduction to Approximation Theory, 1966, section 3.8).
"""

from mpmath import mp, mpf, matrix, lu_solve, log, exp, tanh, erf, erfc, sin, cos, sqrt, pi, linspace, atanh

mp.dps = 40


def remez(target, weight, low, high, degree):
    count = degree + 2
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    for _ in range(30):
        rows = matrix(count, count)
        right = matrix(count, 1)
        for i, x in enumerate(points):
            for power in range(degree + 1):
                rows[i, power] = x**power
            rows[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = target(x)
        solution = lu_solve(rows, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        error = lambda x: (target(x) - sum(c * x**i for i, c in enumerate(coefficients))) * weight(x)
        grid = linspace(low, high, 2000)
        errors = [error(x) for x in grid]
        extrema, start = [], 0
        for i in range(1, len(grid) + 1):
            if i == len(grid) or errors[i] * errors[start] < 0:
                extrema.append(max(range(start, i), key=lambda k: abs(errors[k])))
                start = i
        if len(extrema) < count:
            break
        while len(extrema) > count:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        points = [grid[i] for i in extrema]
        sizes = [abs(errors[i]) for i in extrema]
        if max(sizes) - min(sizes) < max(sizes) * mpf("1e-3"):
            break
    return coefficients, max(abs(e) for e in errors)


def show(name, result):
    coefficients, error = result
    print(name, "error 2^%.1f" % (log(error) / log(2)))
    for c in coefficients:
        print("   ", mp.nstr(c, 18))


def series(f, x, *small):
    """Avoids 0/0 where the quotient has a limit."""
    return f(x) if abs(x) > mpf("1e-9") else small[0]


half = log(2) / 2
show("exp: (e^r - 1 - r) / r^2", remez(
    lambda r: series(lambda r: (exp(r) - 1 - r) / r**2, r, mpf(1) / 2), lambda r: r**2 / exp(r) + mpf("1e-20"),
    -half * mpf("1.01"), half * mpf("1.01"), 4))
show("log: (log(1+f) - f + f^2/2) / f^3", remez(
    lambda f: series(lambda f: (log(1 + f) - f + f**2 / 2) / f**3, f, mpf(1) / 3),
    lambda f: series(lambda f: abs(f**3 / log(1 + f)), f, f**2) + mpf("1e-20"), sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 8))
show("tanh: (tanh(x)/x - 1) / x^2 in x^2 up to 0.625^2", remez(
    lambda t: series(lambda t: (tanh(sqrt(t)) / sqrt(t) - 1) / t, t, -mpf(1) / 3),
    lambda t: t, mpf("1e-6"), mpf("0.625") ** 2, 4))
show("erf: erf(x)/x - 1 in x^2 up to 0.921875^2", remez(
    lambda t: erf(sqrt(t)) / sqrt(t) - 1, lambda t: sqrt(t) / erf(sqrt(t)), mpf("1e-9"), mpf("0.921875") ** 2, 6))
show("erf: -log(erfc(a)) for a in [0.92, 4]", remez(
    lambda a: -log(erfc(a)), lambda a: erfc(a) / erf(a), mpf("0.921"), mpf("4"), 8))
show("sin: (sin(x)/x - 1) / x^2 in x^2 up to (pi/4)^2", remez(
    lambda t: series(lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t, t, -mpf(1) / 6), lambda t: t,
    mpf("1e-6"), (pi / 4) ** 2 * mpf("1.01"), 3))
show("cos: (cos(x) - 1) / x^2 in x^2 up to (pi/4)^2", remez(
    lambda t: series(lambda t: (cos(sqrt(t)) - 1) / t, t, -mpf(1) / 2), lambda t: t,
    mpf("1e-6"), (pi / 4) ** 2 * mpf("1.01"), 4))
show("log2: 2 atanh(s)/s / ln 2 in s^2 up to (sqrt(2)-1)^2/(sqrt(2)+1)^2", remez(
    lambda t: series(lambda t: 2 * atanh(sqrt(t)) / sqrt(t) / log(2), t, 2 / log(2)), lambda t: mpf(1),
    mpf("1e-12"), ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.01"), 6))
show("exp2: 2^r on [-1/2, 1/2]", remez(lambda r: mpf(2) ** r, lambda r: 1 / mpf(2) ** r, -mpf("0.5"), mpf("0.5"), 8))
