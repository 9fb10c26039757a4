"""Ask the reference library (Python `tokenizers`) which properties it gives to each code point.

Usage: python probe.py OUT.json GRAPHEME.json

The library mixes five sources of Unicode data: Oniguruma (regular expressions), the Rust standard
library (whitespace, digits, lower case), the regex crate (\\w), an old categories crate (punctuation,
control, accents) and an old normalisation crate. Each is observed through the component that uses it,
so that the tables hold what the library does and not what a Unicode version says.
GRAPHEME.json holds ranges of grapheme break classes (see README.md), which cannot be observed directly.
"""
import json
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.normalizers import NFC, NFD, NFKC, NFKD

CPS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ALL = "".join(map(chr, CPS))


def ranges(cps):
    out = []
    for c in sorted(cps):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def by_split(pt):
    """Code points that are pieces' members when pt keeps only the matches."""
    got = set()
    for step in range(0, len(ALL), 50000):
        part = ALL[step : step + 50000]
        for _, (a, b) in pt.pre_tokenize_str(part):
            got.update(CPS[step + a : step + b])
    return got


def by_regex(cls):
    return by_split(pre_tokenizers.Split(Regex(cls + "+"), behavior="removed", invert=True))


def removed_by(norm):
    out = set()
    for i, c in enumerate(CPS):
        if norm.normalize_str("a" + ALL[i] + "a") == "aa":
            out.add(c)
    return out


def singles(pt):
    """Code points that pt cuts out of the middle of letters."""
    return {c for i, c in enumerate(CPS) if len(pt.pre_tokenize_str("a" + ALL[i] + "a")) > 1}


def mapping(norm, skip=range(0)):
    out = {}
    for i, c in enumerate(CPS):
        if c in skip:
            continue
        s = norm.normalize_str(ALL[i])
        if s != ALL[i]:
            out[c] = [ord(x) for x in s]
    return out


def main():
    hangul = range(0xAC00, 0xD7A4)
    out = {"gc": {}, "scripts": {}}
    for g in "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split():
        out["gc"][g] = ranges(by_regex(r"\p{%s}" % g))
    out["onig_space"] = ranges(by_regex(r"\s"))
    out["onig_word"] = ranges(by_regex(r"\w"))
    for s in "Alpha Upper Lower Graph".split():
        out["posix_" + s.lower()] = ranges(by_regex(r"\p{%s}" % s))
    for s in (
        "Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu "
        "Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Khmer Mongolian Hiragana "
        "Katakana Bopomofo Han Yi Common Inherited"
    ).split():
        out["scripts"][s] = ranges(by_regex(r"\p{%s}" % s))
    out["numeric"] = ranges(singles(pre_tokenizers.Digits(individual_digits=True)))
    out["space"] = ranges(singles(pre_tokenizers.WhitespaceSplit()))
    out["punct"] = ranges(singles(pre_tokenizers.Punctuation()))
    out["word"] = ranges({c for i, c in enumerate(CPS) if len(pre_tokenizers.Whitespace().pre_tokenize_str("a" + ALL[i] + "a")) == 1})
    out["control"] = ranges(
        removed_by(normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False))
    )
    out["strip_accents"] = ranges(removed_by(normalizers.StripAccents()))
    bert = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    out["mn"] = ranges(removed_by(bert))
    out["lower"] = mapping(normalizers.Lowercase())
    out["nfd"] = mapping(NFD(), hangul)
    out["nfkd"] = mapping(NFKD(), hangul)
    out["nfkc_self"] = mapping(NFKC(), hangul)
    out["nfc_self"] = mapping(NFC(), hangul)
    out["ccc"] = combining_classes()
    out["compose"] = compositions(out["nfd"])
    out["uscripts"] = unicode_scripts()
    with open(sys.argv[2]) as f:
        out["grapheme"] = json.load(f)
    with open(sys.argv[1], "w") as f:
        json.dump(out, f, separators=(",", ":"))


def combining_classes():
    """Classes by order: a mark moves before another exactly if its class is lower (and not 0)."""
    # U+0334 has class 1, U+0345 has 240: the two ends of the order.
    marks = []
    for c in CPS:
        x = chr(c)
        if NFD().normalize_str("a\u0345" + x) == "a" + x + "\u0345" and len(NFD().normalize_str(x)) == 1:
            marks.append(c)
    marks.append(0x345)
    marks = sorted(set(marks))
    reps = []  # representatives of each class in order
    for c in marks:
        lo, hi = 0, len(reps)
        while lo < hi:
            mid = (lo + hi) // 2
            if _before(reps[mid][0], c):
                lo = mid + 1
            else:
                hi = mid
        if lo < len(reps) and not _before(c, reps[lo][0]):
            reps[lo].append(c)
        else:
            reps.insert(lo, [c])
    return [ranges(r) for r in reps]


def _before(a, b):
    """class(a) < class(b), both not 0."""
    return NFD().normalize_str("a" + chr(b) + chr(a)) == "a" + chr(a) + chr(b) and a != b


def compositions(nfd):
    out = []
    for c in CPS:
        d = NFD().normalize_str(chr(c))
        if 0xAC00 <= c <= 0xD7A3 or len(d) < 2:
            continue
        if NFC().normalize_str(d) == chr(c):
            # the pair is (everything but the last, recomposed; last)
            head = NFC().normalize_str(d[:-1])
            if len(head) == 1:
                out.append([ord(head), ord(d[-1]), c])
            else:
                out.append([[ord(x) for x in d], c])
    return out


def unicode_scripts():
    """Groups of code points that the UnicodeScripts pre-tokenizer does not separate; Any is left out."""
    pt = pre_tokenizers.UnicodeScripts()
    groups = []  # [representative, [cps]]
    last = None
    for c in CPS:
        x = chr(c)
        if _any(pt, x):
            continue
        order = ([last] if last is not None else []) + [g for g in range(len(groups)) if g != last]
        for g in order:
            if len(pt.pre_tokenize_str(chr(groups[g][0]) + x)) == 1:
                groups[g][1].append(c)
                last = g
                break
        else:
            groups.append([c, [c]])
            last = len(groups) - 1
    return [ranges(g[1]) for g in groups]


def _any(pt, x):
    """Has no script of its own: alone it gives no piece at all."""
    return not pt.pre_tokenize_str(x)


if __name__ == "__main__":
    main()
