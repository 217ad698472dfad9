"""Unit propagation that records the hints of each proof step; apart, because the whole file is compiled.

Written in the part of Python that `solve.native` compiles: integers, arrays of integers, `while`, `if`.
Nothing here has to be trusted: what it finds is checked by `solve.lrat`.

A literal is 2·variable, its complement 2·variable + 1.  Clause c is `literals[start[c]:start[c + 1]]`; its
two watched literals come first.  The clauses watching a literal are a linked list: `head[literal]` is its
first watch, 2·clause + position, and `follow[watch]` the next; −1 ends it.  `value[literal]` is 1 for true,
−1 for false, 0 for open; `reason[variable]` is the clause that implied it, −1 for none, and `rank[variable]`
its place on the trail.
Source: MOSKEWICZ (watched literals), CRUZ-FILIPE (hints).
"""

from __future__ import annotations

from collections.abc import MutableSequence

Ints = MutableSequence[int]

#: Places in the array `state`: literals on the trail, those propagated, operations done, hints written.
TRAIL, QUEUE, DONE, USED = 0, 1, 2, 3
#: The number of given clauses, of operations, of places for hints, of variables.
GIVEN, COUNT, ROOM, VARIABLES = 4, 5, 6, 7
#: How a run ended, and the clause that it ended with.
ENDING, LAST = 8, 9
STATES = 10

#: Endings: a refutation; no refutation; a step that does not follow; no more room for hints.
REFUTED, OPEN, UNPROVED, FULL = 1, 2, 3, 4


def imply(literal: int, clause: int, value: Ints, reason: Ints, rank: Ints, trail: Ints, state: Ints) -> None:
    """Assign a literal true, with the clause that implies it or −1 as its reason."""
    value[literal] = 1
    value[literal ^ 1] = -1
    reason[literal >> 1] = clause
    rank[literal >> 1] = state[TRAIL]
    trail[state[TRAIL]] = literal
    state[TRAIL] += 1


def propagate(
    literals: Ints, start: Ints, live: Ints, head: Ints, follow: Ints,
    value: Ints, reason: Ints, rank: Ints, trail: Ints, state: Ints,
) -> int:  # fmt: skip
    """Propagate units from the trail; the index of a conflict clause, or −1 without a conflict."""
    while state[QUEUE] < state[TRAIL]:
        false = trail[state[QUEUE]] ^ 1
        state[QUEUE] += 1
        before = -1
        watch = head[false]
        while watch >= 0:
            clause = watch >> 1
            after = follow[watch]
            first = start[clause]
            stays = 1
            if live[clause] == 0:
                stays = 0
            else:
                other = literals[first + 1 - (watch & 1)]
                if value[other] < 1:
                    at = first + 2
                    end = start[clause + 1]
                    while at < end and value[literals[at]] < 0:
                        at += 1
                    if at < end:
                        found = literals[at]
                        literals[at] = false
                        literals[first + (watch & 1)] = found
                        follow[watch] = head[found]
                        head[found] = watch
                        stays = 0
                    elif value[other] < 0:
                        return clause
                    else:
                        imply(other, clause, value, reason, rank, trail, state)
            if stays == 1:
                before = watch
            elif before < 0:
                head[false] = after
            else:
                follow[before] = after
            watch = after
    return -1


def explain(
    clause: int, stamp: int, literals: Ints, start: Ints, reason: Ints,
    mark: Ints, stack: Ints, place: Ints, hints: Ints, state: Ints,
) -> None:  # fmt: skip
    """Write the hints of a conflict: the clauses in an order in which each is unit, the conflict last.

    Variables with `mark[variable] == stamp` are given; the reasons of the others are looked up.
    """
    depth = 0
    stack[0] = clause
    place[0] = start[clause]
    while depth >= 0:
        top = stack[depth]
        at = place[depth]
        if at == start[top + 1]:
            hints[state[USED]] = top
            state[USED] += 1
            depth -= 1
        else:
            place[depth] = at + 1
            variable = literals[at] >> 1
            if mark[variable] != stamp:
                mark[variable] = stamp
                if reason[variable] >= 0:
                    depth += 1
                    stack[depth] = reason[variable]
                    place[depth] = start[reason[variable]]


def attach(
    clause: int, literals: Ints, start: Ints, head: Ints, follow: Ints,
    value: Ints, reason: Ints, rank: Ints, trail: Ints, state: Ints,
) -> int:  # fmt: skip
    """Watch a clause, and propagate it if it is unit; 0 if it is a conflict."""
    first = start[clause]
    end = start[clause + 1]
    free = 0
    at = first
    while at < end and free < 2:
        literal = literals[at]
        if value[literal] >= 0:
            literals[at] = literals[first + free]
            literals[first + free] = literal
            free += 1
        at += 1
    if end - first > 1:
        at = 0
        while at < 2:
            literal = literals[first + at]
            follow[2 * clause + at] = head[literal]
            head[literal] = 2 * clause + at
            at += 1
    if free == 1:
        literal = literals[first]
        if value[literal] == 0:
            imply(literal, clause, value, reason, rank, trail, state)
        elif end - first == 1 and reason[literal >> 1] >= 0:
            reason[literal >> 1] = clause  # the shortest reason that there is
    return free


def undo(length: int, value: Ints, trail: Ints, state: Ints) -> None:
    """Backtrack: unassign all but the first `length` literals of the trail."""
    while state[TRAIL] > length:
        state[TRAIL] -= 1
        value[trail[state[TRAIL]]] = 0
        value[trail[state[TRAIL]] ^ 1] = 0
    state[QUEUE] = length


def conflict_of(
    clause: int, stamp: int, literals: Ints, start: Ints, live: Ints, head: Ints, follow: Ints,
    value: Ints, reason: Ints, rank: Ints, trail: Ints, mark: Ints, state: Ints,
) -> int:  # fmt: skip
    """The conflict clause after assigning the negation of a clause; −1 for none, −2 for a tautology.

    Where a literal of `clause` is true already, that is the reason of the first one to become true.
    """
    length = state[TRAIL]
    at = start[clause]
    found = -1
    while at < start[clause + 1]:
        literal = literals[at]
        mark[literal >> 1] = stamp
        if value[literal] > 0 and (found < 0 or rank[literal >> 1] < rank[found]):
            found = literal >> 1
        at += 1
    if found >= 0:
        return reason[found]
    at = start[clause]
    while at < start[clause + 1]:
        literal = literals[at]
        if value[literal] > 0:
            undo(length, value, trail, state)
            return -2
        if value[literal] == 0:
            imply(literal ^ 1, -1, value, reason, rank, trail, state)
        at += 1
    return propagate(literals, start, live, head, follow, value, reason, rank, trail, state)


def refute(
    literals: Ints, start: Ints, operations: Ints, live: Ints, head: Ints, follow: Ints,
    value: Ints, reason: Ints, rank: Ints, trail: Ints, mark: Ints, stack: Ints, place: Ints,
    hints: Ints, begin: Ints, state: Ints,
) -> None:  # fmt: skip
    """Run a proof's operations until a refutation: clause c is added by c, deleted by −1 − c.

    The hints of clause c are `hints[begin[c]:begin[c + 1]]`, those of the empty clause come after all others.
    Of an operation that has not been done nothing is left: with more room for hints, the run goes on.
    """
    state[ENDING] = OPEN
    while state[DONE] < state[COUNT]:
        clause = operations[state[DONE]]
        if clause < 0:
            clause = -1 - clause
            literal = literals[start[clause]]
            watched = literals[start[clause + 1] - 1]
            if start[clause + 1] - start[clause] > 1:
                watched = literals[start[clause] + 1]
            # What a clause has implied stays, and so does the clause.
            if (value[literal] < 1 or reason[literal >> 1] != clause) and (
                value[watched] < 1 or reason[watched >> 1] != clause
            ):
                live[clause] = 0
        else:
            if state[USED] + 2 * state[VARIABLES] + 4 > state[ROOM]:
                state[ENDING] = FULL
                return
            begin[clause] = state[USED]
            free = 0
            found = 0
            if clause >= state[GIVEN]:
                length = state[TRAIL]
                found = conflict_of(clause, clause + 1, literals, start, live, head, follow, value, reason,
                                    rank, trail, mark, state)  # fmt: skip
                if found == -1:
                    state[ENDING] = UNPROVED
                    state[LAST] = clause
                    return
                if found >= 0:
                    explain(found, clause + 1, literals, start, reason, mark, stack, place, hints, state)
                undo(length, value, trail, state)
            begin[clause + 1] = state[USED]
            live[clause] = 1
            if found >= 0:
                free = attach(clause, literals, start, head, follow, value, reason, rank, trail, state)
                last = clause
                if free > 0:
                    last = propagate(literals, start, live, head, follow, value, reason, rank, trail, state)
                if last >= 0:
                    explain(last, -1, literals, start, reason, mark, stack, place, hints, state)
                    state[ENDING] = REFUTED
                    state[LAST] = clause
                    return
        state[DONE] += 1
