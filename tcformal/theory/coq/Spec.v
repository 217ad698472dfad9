(** The arithmetic of a matrix unit's dot product, as functions on integers: roundings, formats, one fused sum
    (T-FDPA), chains and trees of such sums.  Nothing here is proved, and nothing is real: every definition computes
    ([vm_compute]), so that it can be run against recorded outputs of hardware.  [Design.v] puts the pieces
    together, with those that are one vendor's own, to a record of parameters and a function of words.

    Sources are cited by the tags of the project's list of sources: XIE (arXiv:2511.10909), VALPEY
    (arXiv:2502.15999), IEEE 754, OCP OFP8, OCP MX, MMA-Sim 2.1.1. *)
From Coq Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

(** * Roundings (IEEE 754 §4.3; RO, to odd: an inexact result gets a lowest bit of 1; SR, stochastic: a word of so many
      random bits is added to as many of the magnitude's bits below the last kept one, lower ones are cut, and what
      carries counts) *)

Inductive mode := RNE | RNA | RZ | RD | RU | RO | SR (bits : positive) (word : Z).

(** The bits below the last kept one on which a rounding depends, but for whether any lower bit is 1. *)
Definition deciding_bits (m : mode) : Z := match m with SR n _ => Z.pos n | _ => 1 end.

(** Whether the word carries: of a magnitude [k] bits are cut off, which are [rest]. *)
Definition random_carry (bits : positive) (word rest k : Z) : bool :=
  let n := Z.pos bits in 2 ^ n <=? Z.shiftr (Z.shiftl rest n) k + word mod 2 ^ n.

(** [x / 2^k], rounded to an integer; exact where [k <= 0].  Shifts compute far faster than quotients: [Theorems.v]
    has the same in [*], [/] and [mod] ([round_div_unfold]). *)
Definition round_div (m : mode) (x k : Z) : Z :=
  if k <=? 0 then Z.shiftl x (- k) else
  let d := Z.shiftl 1 k in
  let q := Z.shiftr x k in
  let r := x - Z.shiftl q k in
  if r =? 0 then q else
  match m with
  | RD => q
  | RU => q + 1
  | RZ => if x <? 0 then q + 1 else q
  | RO => if Z.even q then q + 1 else q
  | RNE => match 2 * r ?= d with Lt => q | Gt => q + 1 | Eq => if Z.even q then q else q + 1 end
  | RNA => match 2 * r ?= d with Lt => q | Gt => q + 1 | Eq => if x <? 0 then q else q + 1 end
  | SR n w => if x <? 0 then if random_carry n w (d - r) k then q else q + 1 else if random_carry n w r k then q + 1 else q
  end.

(** * Numbers *)

(** [(-1)^neg * sig * 2^(exp - frac)] (XIE §4, unnormalised significands).  [exp] is the exponent with which the number is aligned: that of its
    encoding, or the sum of its factors'; [sig / 2^frac] need not lie in [1, 2). *)
Record num := { neg : bool; sig : Z; exp : Z; frac : Z }.

Inductive val := Num (x : num) | Inf (s : bool) | NaN.

Definition signed (x : num) : Z := if neg x then - sig x else sig x.
Definition lsb (x : num) : Z := exp x - frac x.
Definition is_zero (x : num) : bool := sig x =? 0.

(** * Formats (IEEE 754 §3.4; OCP OFP8; OCP MX; MMA-Sim 2.1.1 for tf32 and ue4m3) *)

Inductive specials :=
  | IEEE              (** exponent all ones: Inf, or NaN where the fraction is not 0 *)
  | AllOnesNaN        (** no Inf; NaN where exponent and fraction are all ones: e4m3, e8m0, ue4m3 *)
  | NegativeZeroNaN   (** no Inf, no -0, whose word is the NaN: e4m3fnuz, e5m2fnuz *)
  | NoSpecials.       (** every word is a number: e3m2, e2m3, e2m1 *)

Record format := {
  ebits : Z; fbits : Z; bias : Z; special : specials;
  has_sign : bool;        (** false: no sign bit, or one that is ignored: the scales e8m0 and ue4m3 *)
  has_zero : bool;        (** false: exponent field 0 is an ordinary exponent: e8m0 *)
  subnormals : bool;      (** false: exponent field 0 is a zero *)
  ignored : Z             (** low bits of the word that carry nothing: 13 of tf32 *)
}.

Definition decode (f : format) (word : Z) : val :=
  let w := word / 2 ^ ignored f in
  let codes := 2 ^ (ebits f + fbits f) in
  let sbit := w / codes in
  let code := w mod codes in
  let s := has_sign f && (sbit =? 1) in
  let e := code / 2 ^ fbits f in
  let t := code mod 2 ^ fbits f in
  let finite :=
    if (e =? 0) && has_zero f
    then Num {| neg := s; sig := if subnormals f then t else 0; exp := 1 - bias f; frac := fbits f |}
    else Num {| neg := s; sig := t + 2 ^ fbits f; exp := e - bias f; frac := fbits f |} in
  match special f with
  | IEEE => if e =? 2 ^ ebits f - 1 then if t =? 0 then Inf s else NaN else finite
  | AllOnesNaN => if code =? codes - 1 then NaN else finite
  | NegativeZeroNaN => if (sbit =? 1) && (code =? 0) then NaN else finite
  | NoSpecials => finite
  end.

(** The word of a value that the (IEEE-like) format holds. *)
Definition encode (f : format) (nan : Z) (v : val) : Z :=
  let word (s : bool) e t := (((if s then 2 ^ ebits f else 0) + e) * 2 ^ fbits f + t) * 2 ^ ignored f in
  match v with
  | NaN => nan
  | Inf s => word s (2 ^ ebits f - 1) 0
  | Num x =>
      let t := round_div RZ (sig x) (frac x - fbits f) in
      if t <? 2 ^ fbits f then word (neg x) 0 t else word (neg x) (exp x + bias f) (t - 2 ^ fbits f)
  end.

(** * Parameters of one sum *)

(** The exponent with which a zero takes part in the largest one (MMA-Sim 2.1.1, e_zero). *)
Inductive zero_rule :=
  | ZeroNone          (** it takes no part *)
  | ZeroOwn           (** that of its encoding *)
  | ZeroAt (e : Z).   (** this one *)

(** The sign of a zero result. *)
Inductive zero_sign :=
  | Positive          (** every zero is +0 (VALPEY §4.4) *)
  | IeeeSign          (** IEEE 754 §6.3 *)
  | SumSign.          (** a sum of 0 is +0, one that rounds to 0 keeps its sign *)

(** What a number too large for a format becomes. *)
Inductive overflow_rule :=
  | Infinite          (** Inf of its sign (HAWKEYE §7.1) *)
  | Directed          (** as IEEE 754 §7.4: Inf, or the largest number where the mode rounds toward that *)
  | Largest.          (** the largest number of its sign *)

(** The rounding of a sum to [p] fraction bits, with exponents from [emin] to [emax] (XIE Table 2). *)
Record conversion := {
  rho : mode; p : Z; emin : Z; emax : Z;
  overflow : overflow_rule;
  flushes : bool;         (** results below 2^emin become zeros *)
  tiny : bool;            (** and with [flushes], those that a rounding without a least exponent leaves below
                              2^emin (IEEE 754 §7.5, tininess after rounding) *)
  zsign : zero_sign
}.

(** One sum: align, add, round (XIE Algorithm 7; VALPEY Algorithm 1). *)
Record sum := {
  fraction_bits : option Z;      (** F; [None]: nothing is cut off *)
  alignment : mode;
  zero_exponent : zero_rule;
  carry_bits : option Z;         (** the width of the sum is 1 + (F + 1 + carry bits); [None]: no bound *)
  normalise : bool;              (** terms are aligned with the exponents of their leading bits *)
  out : conversion
}.

(** * One sum (XIE Algorithm 7, steps 2 and 3; VALPEY Algorithm 1, steps 2 to 7) *)

Definition own_exponent (x : num) : Z := Z.log2 (Z.abs (sig x)) + lsb x.

(** The exponent with which a term takes part in the largest one. *)
Definition term_exponent (d : sum) (x : num) : option Z :=
  if is_zero x
  then match zero_exponent d with ZeroNone => None | ZeroOwn => Some (exp x) | ZeroAt e => Some e end
  else Some (if normalise d then own_exponent x else exp x).

Definition omax (a b : option Z) : option Z :=
  match a, b with Some x, Some y => Some (Z.max x y) | None, o | o, None => o end.

Definition largest (d : sum) (ts : list num) : option Z := fold_right omax None (map (term_exponent d) ts).

Definition least_lsb (ts : list num) : Z :=
  match ts with [] => 0 | x :: r => fold_right Z.min (lsb x) (map lsb r) end.

(** The exponent of the unit in which the terms are counted. *)
Definition unit_of (d : sum) (ts : list num) : Z :=
  match fraction_bits d with
  | None => least_lsb ts
  | Some f => match largest d ts with None => 0 | Some e => e - f end
  end.

(** A term in units of [2^u]. *)
Definition cut (m : mode) (u : Z) (x : num) : Z := round_div m (signed x) (u - lsb x).

Definition zsum (l : list Z) : Z := fold_right Z.add 0 l.

(** An integer as [w] bits in two's complement hold it. *)
Definition wrap (w n : Z) : Z := (n + 2 ^ (w - 1)) mod 2 ^ w - 2 ^ (w - 1).

Definition counts (d : sum) (ts : list num) : list Z := map (cut (alignment d) (unit_of d ts)) ts.

Definition total (d : sum) (ts : list num) : Z :=
  let n := zsum (counts d ts) in
  match carry_bits d, fraction_bits d with Some k, Some f => wrap (1 + (f + 1 + k)) n | _, _ => n end.

(** The sign of a sum: of zeros that agree, theirs; of any other zero, minus under RD only (IEEE 754 §6.3). *)
Definition sign_of (m : mode) (n : Z) (ts : list num) (ns : list Z) : bool :=
  if negb (n =? 0) then n <? 0 else
  if forallb (Z.eqb 0) ns && (forallb neg ts || forallb (fun x => negb (neg x)) ts) then existsb neg ts
  else match m with RD => true | _ => false end.

(** * The rounding of a sum [n * 2^u] *)

Definition last_bit (c : conversion) (n u : Z) : Z :=
  (if n =? 0 then emin c else Z.max (Z.log2 (Z.abs n) + u) (emin c)) - p c.

(** Whether [n * 2^u] lies below 2^emin when it is rounded to [p + 1] bits as if exponents had no end. *)
Definition is_tiny (c : conversion) (n u : Z) : bool :=
  let ex := Z.log2 (Z.abs n) + u - p c in
  Z.log2 (Z.abs (round_div (rho c) n (ex - u))) + ex <? emin c.

(** Whether [n], too large, becomes an Inf. *)
Definition is_infinite (c : conversion) (n : Z) : bool :=
  match overflow c with
  | Infinite => true
  | Directed => match rho c with RNE | RNA | SR _ _ => true | RD => n <? 0 | RU => 0 <? n | RZ | RO => false end
  | Largest => false
  end.

Definition convert (c : conversion) (s : bool) (n u : Z) : val :=
  let ex := last_bit c n u in
  let r := round_div (rho c) n (ex - u) in
  let own := Z.log2 (Z.abs r) + ex in
  if (r =? 0) || (flushes c && ((own <? emin c) || tiny c && is_tiny c n u))
  then let keeps := match zsign c with Positive => false | IeeeSign => true | SumSign => negb (n =? 0) end in
       Num {| neg := keeps && s; sig := 0; exp := emin c; frac := p c |}
  else if emax c <? own
  then if is_infinite c n then Inf (n <? 0)
       else Num {| neg := n <? 0; sig := 2 ^ (p c + 1) - 1; exp := emax c; frac := p c |}
  else Num {| neg := r <? 0; sig := Z.abs r; exp := Z.max own (emin c); frac := Z.max own (emin c) - ex |}.

(** * Sums of values, blocks and chains (XIE §4.2, Algorithms 4 to 7) *)

Definition is_num (v : val) : bool := match v with Num _ => true | _ => false end.
Definition num_of (v : val) : num := match v with Num x => x | _ => {| neg := false; sig := 0; exp := 0; frac := 0 |} end.

(** The numbers, where all values are numbers. *)
Definition numbers (vs : list val) : option (list num) := if forallb is_num vs then Some (map num_of vs) else None.

(** The sum of values that are not all numbers. *)
Definition special_sum (vs : list val) : val :=
  let has (q : val -> bool) := existsb q vs in
  if has (fun v => match v with NaN => true | _ => false end) then NaN else
  match has (fun v => match v with Inf false => true | _ => false end),
        has (fun v => match v with Inf true => true | _ => false end) with
  | true, true => NaN
  | _, minus => Inf minus
  end.

Definition sum_numbers (d : sum) (ts : list num) : val :=
  let n := total d ts in convert (out d) (sign_of (rho (out d)) n ts (counts d ts)) n (unit_of d ts).

Definition sum_values (d : sum) (vs : list val) : val :=
  match numbers vs with Some ts => sum_numbers d ts | None => special_sum vs end.

Definition times (x y : num) : num :=
  {| neg := xorb (neg x) (neg y); sig := sig x * sig y; exp := exp x + exp y; frac := frac x + frac y |}.

Definition product (x y : val) : val :=
  match x, y with
  | Num a, Num b => Num (times a b)
  | NaN, _ | _, NaN => NaN
  | Inf s, Num a | Num a, Inf s => if is_zero a then NaN else Inf (xorb s (neg a))
  | Inf s, Inf t => Inf (xorb s t)
  end.

(** Sums of sums. *)
Inductive tree := Term (v : val) | Node (d : sum) (l : list tree).

Fixpoint eval (t : tree) : val :=
  match t with Term v => v | Node d l => sum_values d (map eval l) end.

(** * The blocks of a list *)

Fixpoint cut_list {A} (fuel : nat) (n : nat) (l : list A) : list (list A) :=
  match fuel, l with S k, _ :: _ => firstn n l :: cut_list k n (skipn n l) | _, _ => [] end.
