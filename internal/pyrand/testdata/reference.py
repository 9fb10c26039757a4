"""Writes reference.json: what CPython 3.12 and NumPy 2.4 draw, call after call, from one seeded stream each."""
import json
import random

import numpy as np


def python(seed):
    r = random.Random(seed)
    out = {"seed": seed}
    out["random"] = [r.random() for _ in range(3)]
    out["getrandbits"] = [str(r.getrandbits(k)) for k in (1, 7, 31, 32, 33, 53, 64)]
    out["randint"] = [r.randint(-3, 12) for _ in range(5)]
    out["choice"] = [r.choice(range(1000)) for _ in range(5)]
    deck = list(range(20))
    r.shuffle(deck)
    out["shuffle"] = deck
    out["choices"] = r.choices(range(50257), k=8)
    out["weighted"] = r.choices(range(4), [0.5, 0.25, 0.125, 3], k=8)
    out["sample_pool"] = r.sample(range(30), 12)
    out["sample_set"] = r.sample(range(10**6), 12)
    out["random_after"] = r.random()
    return out


def numpy(seed):
    r = np.random.RandomState(seed)
    out = {"seed": seed}
    out["random"] = [float(r.random_sample()) for _ in range(3)]
    out["randint_small"] = r.randint(1, 65, size=8).tolist()
    out["randint_one"] = r.randint(7, 8, size=3).tolist()
    out["randint_word"] = r.randint(0, 2**32, size=3).tolist()
    out["randint_wide"] = r.randint(-5, 2**40, size=4).tolist()
    out["exponential"] = [float(r.exponential(0.1)) for _ in range(5)]
    out["normal"] = [float(r.standard_normal()) for _ in range(5)]
    for name, shape in (("gamma_half", 0.5), ("gamma_one", 1.0), ("gamma_three", 3.0)):
        out[name] = [float(r.gamma(shape, 0.2)) for _ in range(6)]
    out["choice"] = [int(r.choice(4, p=[0.5, 0.25, 0.15, 0.1])) for _ in range(8)]
    out["permutation"] = r.permutation(37).tolist()
    out["without_replacement"] = r.choice(100, size=9, replace=False).tolist()
    out["pixels"] = (r.rand(3, 5) * 255).astype(np.uint8).ravel().tolist()
    out["random_after"] = float(r.random_sample())
    return out


def generator(seed):
    r = np.random.default_rng(seed)
    out = {"seed": seed}
    out["raw"] = [str(v) for v in np.random.PCG64(seed).random_raw(4).tolist()]
    out["random"] = [float(r.random()) for _ in range(3)]
    out["integers_small"] = r.integers(3, 68, size=9).tolist()
    out["integers_one"] = [int(r.integers(0, 50257)) for _ in range(3)]
    out["integers_list"] = r.integers(0, 1000, size=5).tolist()
    out["integers_wide"] = r.integers(-5, 2**40, size=4).tolist()
    out["choice"] = r.choice(5, size=8, p=[0.4, 0.3, 0.15, 0.1, 0.05]).tolist()
    out["bytes_odd"] = r.integers(0, 256, size=7, dtype=np.uint8).tolist()
    out["bytes"] = r.integers(0, 256, size=(2, 3, 3), dtype=np.uint8).ravel().tolist()
    out["random_after"] = float(r.random())
    return out


with open("reference.json", "w") as f:
    json.dump(
        {
            "python": [python(s) for s in (0, 1, 42, -42, 2**31 - 1, 2**32, 2**53 + 1)],
            "numpy": [numpy(s) for s in (0, 1, 42, 2024, 2**32 - 1)],
            "generator": [generator(s) for s in (0, 1, 42, 2024, 2**32, 2**40 + 3)],
        },
        f,
        indent=1,
    )
    f.write("\n")
