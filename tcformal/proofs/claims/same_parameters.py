"""Claim `same-parameters`: names that share their parameters compute the same function."""

from __future__ import annotations

import math
from functools import lru_cache

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.errors import InputError
from tcformal.programs.chain import definition
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import ProofStep


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[str]]:
    """Every catalogued name -> all names of its distinct design."""
    return {name: names for names in distinct_designs().values() for name in names}


@lru_cache(maxsize=256)
def _first_definition(first: str) -> str:
    """The digest of one distinct design's circuit at its own k."""
    return definition(catalogue()[first])


def same_parameters(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The circuits of all names are built and their digests compared.

    Soundness: a digest is that of the serialised circuit with its inputs by name.  Equal digests are
    equal circuits (but for a collision of SHA-256), and equal circuits give equal results; no solver is
    needed.  Names of one design that differ in k are compared at the least common multiple of their k,
    where the shorter one is applied to consecutive runs, as the hardware's instructions are.
    Names of other distinct designs whose circuits coincide count too: parameters that no input can show.
    """
    spec = ask.spec
    names = _groups().get(spec.name)
    if names is None:
        raise InputError(f"expected a catalogued unit for claim same-parameters, but got {spec.name}")
    mine = _first_definition(names[0])
    for first in distinct_designs():
        if first not in names and _first_definition(first) == mine:
            names = [*names, *_groups()[first]]
    units = [catalogue()[name] for name in names]
    k = math.lcm(*(u.k for u in units))
    parts = []
    expected = definition(spec, k)
    for u in units:
        if u.name == spec.name:
            continue
        ask.progress(f"the circuit of {u.name}")
        found = definition(u, k)
        same = found == expected
        how = "same definition" if same else "not proved"
        parts.append(
            ClaimPart(
                name=u.name,
                status=PartStatus.HOLDS if same else PartStatus.OPEN,
                steps=(ProofStep(name=f"circuit {found}", how=how, lemmas={}),),
                note="" if same else f"its circuit is {found[:12]}, not {expected[:12]}",
            )
        )
    if not parts:
        parts.append(
            ClaimPart(
                name=spec.name,
                status=PartStatus.HOLDS,
                steps=(ProofStep(name=f"circuit {expected}", how="same definition", lemmas={}),),
                note="no other name has these parameters",
            )
        )
    archs = list(dict.fromkeys(u.arch for u in units))
    finding = Finding(
        parts=tuple(parts),
        composition=f"{len(units)} names build one circuit, {expected}, at k = {k}",
        reason=f"{len(units)} names of {', '.join(archs)} build one circuit, so that none can be told apart",
    )
    return finding, []
