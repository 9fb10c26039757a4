"""Seeded random texts for parity tests: all scripts, white space, marks, emoji, added tokens, broken UTF-8."""
import unicodedata

WORDS = "the of and Hello WORLD don't I'M we'LL it'ſ naïve café straße İstanbul ΣΊΣΥΦΟΣ привет мир 你好世界 日本語テスト 한국어 ไทย हिन्दी مرحبا שלום tiếng Việt ǅ ﬁ Ⅷ ½ x2 3.14 100000 v1.2.3 http://a.b/c?d=e foo_bar fooBar FOOBar // {} [] () <> => != \\n".split()
SPACES = [" ", "  ", "   ", "\n", "\r\n", "\t", "\n\n", " \n", "\u00a0", "\u2003", "\u3000", "\x0b", "\x0c", "\u0085", "\u2028", "\u200b", "\ufeff", "\x1c"]
ODD = ["\u0130", "\u017f", "\u212a", "\u0000", "\ufffd", "\u2581", "\u0120", "\u00ad", "\u200d", "\ufe0f", "\u20e3", "\U0001f1e9", "\U0001f1ea",
       "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u0344", "\u0958", "\ufb1d", "\u1e9e", "\u0345", "\u0334",
       "\u08d3", "\u1df6", "\U0001e2ec", "\U00011930", "\u2126", "\u00c5", "\u0897", "\U0001381f", "\u0950\u094d\u0915", "\u0915\u094d\u200d\u0937", "\ud7b0", "\U0002f800"]


def blocks():
    """Ranges of code points that hold assigned characters, by 128."""
    out = []
    for b in range(0, 0x32000, 128):
        if 0xD800 <= b < 0xE000:
            continue
        if any(unicodedata.category(chr(c)) not in ("Cn", "Co") for c in range(b, b + 128, 8)):
            out.append(b)
    return out + [0xE0000, 0xE0100, 0xF0000, 0x10FF80]


class Draw:
    def __init__(self, rnd, added=()):
        self.r = rnd
        self.blocks = blocks()
        self.added = [a for a in added if a]

    def part(self):
        r, k = self.r, self.r.random()
        if k < 0.22:
            return r.choice(WORDS)
        if k < 0.38:
            return r.choice(SPACES)
        if k < 0.46:
            return "".join(chr(r.randint(33, 126)) for _ in range(r.randint(1, 6)))
        if k < 0.54:
            return "".join(r.choice("abcdefghijklmnopqrstuvwxyzABCDEFGH") for _ in range(r.randint(1, 12)))
        if k < 0.59:
            return "".join(r.choice("0123456789") for _ in range(r.randint(1, 8)))
        if k < 0.72:
            b = r.choice(self.blocks)
            return "".join(chr(b + r.randrange(128)) for _ in range(r.randint(1, 5)))
        if k < 0.78:
            return r.choice(ODD)
        if k < 0.82:
            return "".join(r.choice(["e", "a", "o", ""]) + chr(r.randint(0x300, 0x36F)) for _ in range(r.randint(1, 4)))
        if k < 0.85:
            return r.choice("aé(9\n .ㅋ中'#=-") * r.randint(2, 40)
        if k < 0.88:
            return chr(r.randint(0xAC00, 0xD7A3)) if r.random() < 0.5 else "".join(chr(r.randint(0x1100, 0x11FF)) for _ in range(3))
        if k < 0.92:
            return "".join(chr(r.randint(0x1F300, 0x1FAFF)) + r.choice(["", "\u200d", "\ufe0f", "\U0001f3fd"]) for _ in range(r.randint(1, 3)))
        if k < 0.97 and self.added:
            a = r.choice(self.added)
            if r.random() < 0.25:
                a = a[: r.randint(0, len(a))]
            return r.choice(["", " ", "  ", "a", "\n"]) + a + r.choice(["", " ", "a", " \n"])
        return "'" + r.choice(["s", "S", "t", "T", "re", "RE", "Re", "ve", "vE", "m", "ll", "LL", "d", "D", "\u017f", "x", ""])

    def text(self):
        """Bytes; mostly valid UTF-8."""
        n = self.r.choice([1, 2, 3, 5, 8, 13, 30])
        s = "".join(self.part() + (" " if self.r.random() < 0.25 else "") for _ in range(n))
        b = s.encode("utf-8", "replace")
        if self.r.random() < 0.08 and b:
            b = bytearray(b)
            for _ in range(self.r.randint(1, 4)):
                i = self.r.randrange(len(b))
                if self.r.random() < 0.5:
                    b[i] = self.r.randrange(256)
                else:
                    del b[i]
                    if not b:
                        break
            b = bytes(b)
        return b
