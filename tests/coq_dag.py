"""A DAG as Coq functions on Z, for comparison with definitions that other people proved correct."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS
from tcformal.ir.walk import reachable

#: Each operator on integers in [0, 2^width): operands {a} {b} {c}, their widths {wa} {wb}, the result's {w}.
MEANINGS = {
    "not_": "2^{w} - 1 - {a}",
    "and_": "Z.land {a} {b}",
    "or_": "Z.lor {a} {b}",
    "xor": "Z.lxor {a} {b}",
    "add_mod": "({a} + {b}) mod 2^{w}",
    "sub_mod": "({a} - {b}) mod 2^{w}",
    "neg_mod": "(- {a}) mod 2^{w}",
    "mul_expand": "{a} * {b}",
    "shl_mod": "if {b} <? {wa} then ({a} * 2^{b}) mod 2^{w} else 0",
    "lshr": "if {b} <? {wa} then {a} / 2^{b} else 0",
    "ashr": "(signed {a} {wa} / 2^(Z.min {b} {wa})) mod 2^{w}",
    "eq": "Z.b2z ({a} =? {b})",
    "ult": "Z.b2z ({a} <? {b})",
    "ule": "Z.b2z ({a} <=? {b})",
    "slt": "Z.b2z (signed {a} {wa} <? signed {b} {wb})",
    "sle": "Z.b2z (signed {a} {wa} <=? signed {b} {wb})",
    "ite": "if {a} =? 1 then {b} else {c}",
    "concat": "{a} * 2^{wb} + {b}",
    "extract": "({a} / 2^{q}) mod 2^{w}",
    "zero_extend": "{a}",
    "sign_extend": "signed {a} {wa} mod 2^{w}",
}
assert MEANINGS.keys() == OPS.keys() - LEAVES

HEAD = """\
From Coq Require Import ZArith List Bool.
From Flocq Require Import Core IEEE754.Binary IEEE754.Bits.
Import ListNotations.
Open Scope Z_scope.
Definition signed (x w : Z) := if x <? 2^(w - 1) then x else x - 2^w.
Definition upto (n : nat) := map Z.of_nat (seq 0 n).
"""


def function(name: str, graph: Graph, inputs: Sequence[Node], roots: Mapping[str, Node]) -> str:
    """A Coq function of the inputs, in that order, whose value is the list of the roots."""
    places = {node.index: f"x{i}" for i, node in enumerate(inputs)}
    lines = [f"Definition {name} ({' '.join(places.values())} : Z) : list Z :="]
    for node in reachable(roots.values()):
        if node.op == "const":
            places[node.index] = str(node.params[1])
        elif node.op != "input":
            values = dict(zip("abc", (places[a.index] for a in node.args), strict=False))
            widths = {f"w{letter}": a.width for letter, a in zip("abc", node.args, strict=False)}
            low = {"q": node.params[-1]} if node.params else {}
            places[node.index] = f"n{node.index}"
            text = MEANINGS[node.op].format(**values, **widths, **low, w=node.width)
            lines.append(f"  let n{node.index} := {text} in")
    lines.append(f"  [{'; '.join(places[node.index] for node in roots.values())}].")
    return "\n".join(lines) + "\n"


def evaluated(folder: Path, text: str) -> str:
    """What `coqc` prints of a file, without line breaks."""
    path = folder / "compared.v"
    path.write_text(HEAD + text)
    done = subprocess.run(["coqc", path.name], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return " ".join(done.stdout.split())
