"""Writes probes.jsonl.gz: templates, and what jinja2 makes of them in the environment that
transformers renders chat templates in. Needs jinja2 3.1.6; run it in this folder.

Half of the probes are the lines of probes.txt (each a JSON string), the rest is drawn at random from
a fixed seed: expressions, and templates full of whitespace control.
"""

import copy, datetime, gzip, json, random, signal
import jinja2, jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

VARS = {
    "msgs": [
        {"role": "user", "content": "hi\nthere "},
        {"role": "assistant", "content": "yo", "z": 1, "a": None,
         "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1.5, "y": [1, 2]}}}]},
    ],
    "num": 7, "fl": 2.5, "big": 123456789012345678901, "neg": -1.0, "e": 1e-07, "lst": [3, 1, 2],
    "words": ["b", "A", "c d"], "tools": None, "d": {"k": "v", "n": 1, "l": [1, {"q": 2}]},
    "s": "Hello, wörld ß 日本 🙂 <b>&'\"", "t": True, "empty": "", "ml": "a\n\n b\r\nc\u2028d\n",
    "nested": {"a": {"b": {"c": [1, 2, {"d": "x"}]}}},
}


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = datetime.datetime(2026, 3, 5, 7, 8, 9, 123456).strftime
    return env


ENV = environment()
R = random.Random(20261130)
NAMES = list(VARS) + ["undef", "x"]
CONSTS = """0|1|2|-3|10|2.5|1e3|0.1|none|true|false|''|'a'|'b,c d'|"it's"|'<b>'|'日本'|'ß'|'a\\nb'|'%s'|'{}'|[]|[1,2]|['a','B']|{}|{'k':1}
(1,)|(1,2)|' x '|'12'|'3.7'|1_000|'Hello World'|[3,1,2]|[{'n':2,'s':'x'},{'n':1,'s':'Y'}]|'a/b c&d'|100000000000000000000""".replace("\n", "|").split("|")
FILTERS = """upper lower title capitalize trim length list string int float abs round first last sort unique join tojson e safe default('z')
d('q',true) replace('a','bb') replace('l','L',1) indent indent(2,true) truncate(5) truncate(6,true) wordcount center(20) batch(2)|list slice(2)|list
sum min max dictsort dictsort(reverse=true) dictsort(by='value') map('upper')|list map(attribute='n')|list map('length')|list select|list
select('string')|list reject('none')|list selectattr('n','gt',1)|list rejectattr('role','equalto','user')|list sort(attribute='n')
sort(reverse=true) sort(case_sensitive=true) groupby('n')|list tojson(indent=2) tojson(sort_keys=true) tojson(ensure_ascii=true)
urlencode striptags format(1) format('a','b') attr('k') round(1) int(5) int(0,16) float(9) join(',') sum(attribute='n') reverse|list""".split()
TESTS = """defined;undefined;none;string;number;integer;float;boolean;mapping;iterable;sequence;callable;true;false;odd;even;upper;lower
in [1,2,'a'];eq 1;gt 1;lt(2);sameas true;divisibleby 3;filter;test;escaped;in 'abc'""".replace("\n", ";").split(";")
METHODS = """upper() lower() strip() lstrip() rstrip() split() split(',') rsplit() splitlines() title() capitalize() swapcase()
startswith('a') endswith('b') find('l') rfind('l') index('a') replace('a','x') replace('','-') count('l') partition(',') ljust(8)
rjust(8,'*') center(9) zfill(5) isdigit() isalpha() isspace() isupper() istitle() removeprefix('a') join(['a','b']) expandtabs(4)
format(1,2) items()|list keys()|list get('k') get('zz','dd') copy() index(1) count(1) append(1) pop() update({}) foo() k n role content""".split()


def const():
    return R.choice(CONSTS)


def expr(depth):
    if depth <= 0:
        return R.choice([const(), R.choice(NAMES)])
    k = R.randrange(17)
    if k < 5:
        return R.choice([const(), R.choice(NAMES)])
    if k < 8:
        return f"{atom(depth - 1)}|{R.choice(FILTERS)}"
    if k < 10:
        return f"{atom(depth - 1)}.{R.choice(METHODS)}"
    if k < 11:
        return f"{atom(depth - 1)} is {R.choice(['', 'not '])}{R.choice(TESTS)}"
    if k < 13:
        return f"({expr(depth - 1)} {R.choice('+ - * / // % ~ == != < <= > >= in and or'.split())} {expr(depth - 1)})"
    if k < 15:
        return f"({atom(0)})[{R.choice(['0', '-1', '1:', '::-1', ':2', '-2:', '::2', '5', repr(R.choice(['k', 'n', 'role']))])}]"
    if k < 16:
        return f"({expr(depth - 1)} if {expr(depth - 1)}{R.choice([' else ' + expr(depth - 1), ''])})"
    return R.choice([f"[{expr(depth - 1)}, {expr(depth - 1)}]", f"not {expr(depth - 1)}", f"-{atom(0)}", f"{{'a':{expr(depth - 1)}}}"])


def atom(depth):
    return R.choice([const(), R.choice(NAMES), R.choice(NAMES), f"({expr(depth)})"])


def ws():
    return R.choice(["", "", "\n", " ", "  ", "\n  ", "  \n", "\n\n", "x", "x\n", " y ", "\t", "\r\n", "\u00a0"])


def tag(body):
    return R.choice(["{%", "{%", "{%-", "{%+"]) + " " + body + " " + R.choice(["%}", "%}", "-%}", "+%}"])


def out(e):
    return R.choice(["{{", "{{", "{{-"]) + " " + e + " " + R.choice(["}}", "}}", "-}}"])


def template(depth):
    s = ""
    for _ in range(R.randint(1, 4)):
        s += ws()
        k = R.randrange(14)
        if k < 4 or depth <= 0:
            s += out(expr(R.randint(0, 1)))
        elif k < 6:
            s += tag(f"if {expr(1)}") + template(depth - 1) + R.choice(["", tag("else") + template(depth - 1)]) + ws() + tag("endif")
        elif k < 9:
            inner = R.choice(["", out("loop.index"), out("loop.last"), tag("if loop.first") + tag("continue") + tag("endif"), tag("break")])
            s += tag(f"for {R.choice(['i', 'x'])} in {R.choice(['lst', 'msgs', 'words', 'd', 'range(3)'])}{R.choice(['', ' if i'])}")
            s += template(depth - 1) + inner + R.choice(["", tag("else") + template(depth - 1)]) + tag("endfor")
        elif k < 10:
            s += R.choice([tag(f"set x = {expr(1)}"), tag("set x") + template(depth - 1) + tag("endset")]) + out("x")
        elif k < 11:
            s += tag("macro m(a, b=1)") + template(depth - 1) + out("a") + out("b") + tag("endmacro") + out("m(2)")
        elif k < 12:
            s += "{#" + R.choice(["", "-", "+"]) + " c " + R.choice(["#}", "-#}", "+#}"])
        elif k < 13:
            s += tag("raw").replace("+", "") + ws() + "{{ x }}" + ws() + tag("endraw")
        else:
            s += R.choice([tag("filter upper") + template(depth - 1) + tag("endfilter"), tag("generation") + template(depth - 1) + tag("endgeneration")])
    return s + ws()


def probe(source):
    try:
        signal.setitimer(signal.ITIMER_REAL, 2)
        return {"template": source, "expected": ENV.from_string(source).render(**copy.deepcopy(VARS))}
    except Exception as e:
        return {"template": source, "error": type(e).__name__ + ": " + str(e)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_slow(*_):
    raise TimeoutError()


def main():
    signal.signal(signal.SIGALRM, too_slow)
    probes = [probe(json.loads(line)) for line in open("probes.txt", encoding="utf-8")]
    while len(probes) < 2000:
        p = probe("{{ " + expr(2) + " }}" if R.random() < 0.5 else template(2))
        text = p.get("expected", p.get("error", ""))
        # What shows an address or a name of Python's inside, or takes long, is no fact of the language.
        if not any(b in text for b in ("<generator", "object at", "<built-in", "<bound", "<function", "Timeout", "object is not subscriptable", "'slice'")) and len(text) < 4000:
            probes.append(p)
    with gzip.GzipFile("probes.jsonl.gz", "wb", mtime=0) as f:
        f.write(json.dumps(VARS, ensure_ascii=False).encode() + b"\n")
        for p in probes:
            f.write(json.dumps(p, ensure_ascii=False).encode() + b"\n")


main()
