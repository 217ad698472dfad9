(** Designs whose parameters theorems are not about: factors that are rounded, or of which some bits are multiplied;
    terms that are cut with ties up, or twice, or c in a way of its own; sums that are cut again, or stay as they are;
    groups whose exponents are CUTE's; and results whose Inf is read as a number.  [compute_wide] is the function
    from words to a word.  Nothing here is proved.

    Sources are cited by the tags of the project's list of sources. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design.
Import ListNotations.
Open Scope Z_scope.

(** * Sums *)

(** How a term is cut: by a rounding, or to nearest with ties toward +Inf (ttsim, fpu_accum_normalize_encode). *)
Inductive term_mode := By (m : mode) | TiesUp.

Definition term_div (m : term_mode) (x k : Z) : Z :=
  match m with By m => round_div m x k | TiesUp => round_div RD (if 0 <? k then x + 2 ^ (k - 1) else x) k end.

(** What a sum becomes: a rounded number, or a term as it is, with the exponent of its largest term; [flushed_below]:
    a zero where that is below [least] (ttsim, mvmul). *)
Inductive ending := Rounds (r : rounding) | Stays (least : Z) (flushed_below : bool).

Record wide_sum := {
  term_bits : option Z;       (** fraction bits of terms, F; [None]: nothing is cut off *)
  term_cut : term_mode;
  c_term_bits : option Z;     (** those of c, and how it is cut *)
  c_term_cut : term_mode;
  second_bits : option Z;     (** fraction bits to which cut terms are cut once more, in the same way *)
  zeros_at : zero_rule;
  leading : bool;             (** terms are aligned with the exponents of their leading bits *)
  c_decides : bool;           (** c takes part in the largest exponent, if it is not alone *)
  room : option Z;            (** carry bits: the width is 1 + (fraction bits + 1 + these); [None]: no bound *)
  minus_one : option Z;       (** a sum of -1 unit counts as -2^this units (ttsim, Wormhole) *)
  cut_sum : option Z;         (** fraction bits to which the sum is rounded down (CUTE, ccode/fmac.h) *)
  becomes : ending
}.

(** A term; [alive]: where it is 0, it takes part in the largest exponent with its own all the same. *)
Record term := { its : val; alive : bool }.

Definition plain (v : val) : term := {| its := v; alive := false |}.

(** A number of a sum, from a term; and whether it is c. *)
Record addend := { number : num; counts_at_zero : bool; is_c : bool }.

Definition exponent_in (s : wide_sum) (x : addend) : option Z :=
  let n := number x in
  if negb (is_zero n) then Some (if leading s then own_exponent n else exp n) else
  if counts_at_zero x then Some (exp n) else
  match zeros_at s with ZeroNone => None | ZeroOwn => Some (exp n) | ZeroAt e => Some e end.

Definition largest_in (s : wide_sum) (l : list addend) : option Z :=
  let own := filter (fun x => c_decides s || negb (is_c x)) l in
  fold_right omax None (map (exponent_in s) (match own with [] => l | _ => own end)).

(** Fraction bits of the unit in which terms are counted, the most that one keeps. *)
Definition unit_bits (s : wide_sum) (f : Z) (l : list addend) : Z :=
  match second_bits s, c_term_bits s with
  | Some g, _ => g
  | None, Some g => if existsb is_c l then Z.max f g else f
  | None, None => f
  end.

(** A term in units of 2^(e - finest), where the largest exponent is [e]. *)
Definition cut_term (s : wide_sum) (e f finest : Z) (x : addend) : Z :=
  let first := if is_c x then match c_term_bits s with Some g => g | None => f end else f in
  let how := if is_c x then c_term_cut s else term_cut s in
  term_div how (term_div how (signed (number x)) (e - first - lsb (number x))) (first - finest).

(** A sum, its unit, its terms in units, and their largest exponent. *)
Definition summed (s : wide_sum) (l : list addend) : Z * Z * list Z * option Z :=
  match term_bits s with
  | None =>
      let u := least_lsb (map number l) in
      let ns := map (fun x => cut RZ u (number x)) l in (zsum ns, u, ns, None)
  | Some f =>
      match largest_in s l with
      | None => (0, 0, map (fun _ => 0) l, None)
      | Some e =>
          let finest := unit_bits s f l in
          let ns := map (cut_term s e f finest) l in
          let n := zsum ns in
          let n := match room s with Some k => wrap (1 + (finest + 1 + k)) n | None => n end in
          let n := match minus_one s with Some m => if n =? -1 then - 2 ^ m else n | None => n end in
          match cut_sum s with
          | None => (n, e - finest, ns, Some e)
          | Some g => (round_div RD n (finest - g), e - g, ns, Some e)
          end
      end
  end.

(** A zero in place of a sum that stays. *)
Definition stays_zero (s : wide_sum) (least : Z) : num :=
  {| neg := false; sig := 0; exp := least;
     frac := match second_bits s, term_bits s with Some g, _ => g | None, Some f => f | None, None => 0 end |}.

Definition ended (s : wide_sum) (l : list addend) : term :=
  let '(n, u, ns, e) := summed s l in
  match becomes s with
  | Rounds r => plain (round_to r (sign_of (rounding_mode r) n (map number l) ns) n u)
  | Stays least below =>
      match e with
      | Some e =>
          if below && (e <? least) then plain (Num (stays_zero s least))
          else {| its := Num {| neg := n <? 0; sig := Z.abs n; exp := e; frac := e - u |}; alive := true |}
      | None => plain (Num (stays_zero s least))
      end
  end.

Definition add_wide (s : wide_sum) (l : list (term * bool)) : term :=
  let vs := map (fun x => its (fst x)) l in
  if forallb is_num vs
  then ended s (map (fun x => {| number := num_of (its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) l)
  else plain (special_sum vs).

(** ** Trees of sums *)

Inductive wide_steps := WideProduct (k : nat) | WideC | WideZero | WideStep (s : wide_sum) (l : list wide_steps).

Definition stays (s : wide_sum) : bool := match becomes s with Stays _ _ => true | _ => false end.

(** A +0 as partial sums are. *)
Definition zero_in (s : wide_sum) : val :=
  match becomes s with Rounds r => zero_of r | Stays least _ => Num (stays_zero s least) end.

(** A subnormal rounded partial sum counts as a subnormal c does. *)
Fixpoint eval_wide (r : flush_rule) (ps : list term) (c : val) (t : wide_steps) : term :=
  match t with
  | WideProduct k => nth k ps (plain NaN)
  | WideC => plain c
  | WideZero => plain NaN
  | WideStep s l => add_wide s (map (fun x =>
      let y := eval_wide r ps c x in
      match x with
      | WideStep i _ => (if stays i then y else plain (flush r (its y)), false)
      | WideZero => (plain (zero_in s), false)
      | WideC => (y, true)
      | WideProduct _ => (y, false)
      end) l)
  end.

(** * Designs *)

Record wide_design := {
  base : design;                       (** all but its sums, which are not used *)
  operand_rounding : option rounding;  (** the rounding of each factor *)
  a_taken : option (Z * Z);            (** the bits of a significand that are multiplied, first and last; the units
                                           bit is number 0 *)
  b_taken : option (Z * Z);
  group_exponent : Z;                  (** by how much the exponent of a group's sum exceeds that of its scales *)
  zero_by_scale : bool;                (** a group is a zero where a scale is one, and never else (CUTE,
                                           ccode/fmac.h, nvfp4mac) *)
  again : format;                      (** how a result is read as the next block's c *)
  order : wide_steps
}.

(** A factor with some bits of its significand, and the exponent of the first (ttsim, mvmul: fidelity phases). *)
Definition taken (bits : option (Z * Z)) (x : num) : num :=
  match bits with
  | None => x
  | Some (first, last) =>
      {| neg := neg x; sig := round_div RD (sig x) (frac x - last) mod 2 ^ (last - first + 1);
         exp := exp x - first; frac := last - first |}
  end.

Definition wide_factor (w : wide_design) (r : flush_rule) (v : val) : val :=
  let v := flush r v in
  let v := match operand_rounding w, v with Some f, Num x => round_num f x | _, _ => v end in
  if normalise_factors (factors (base w)) then on_num normalised v else v.

Definition nought (v : val) : bool := match v with Num x => is_zero x | _ => false end.

(** A product; one of which no bit is left is no zero, unless a factor or a scale is one or it is rounded. *)
Definition wide_product (w : wide_design) (x : element) (scales : list val) : term :=
  let d := base w in
  let a := wide_factor w (of_a (factors d)) (operand d (a_format d) (a_word x)) in
  let b := wide_factor w (of_b (factors d)) (operand d (b_format d) (b_word x)) in
  let made a b := scaled_product (factors d) a b (index x) scales in
  match a, b with
  | Num i, Num j =>
      let v := made (Num (taken (a_taken w) i)) (Num (taken (b_taken w) j)) in
      let exact := match product_rounding (factors d) with None => true | Some _ => false end in
      {| its := v; alive := exact && nought v && negb (nought (made a b)) |}
  | _, _ => plain (made a b)
  end.

Definition first_mode (t : wide_steps) : mode :=
  match t with WideStep s _ => match becomes s with Rounds r => rounding_mode r | _ => RNE end | _ => RNE end.

Definition wide_group (w : wide_design) (g : list element) : term :=
  let scales := match g with x :: _ => scaled_by x | [] => [] end in
  let '(v, e) := group_term (first_mode (order w)) (map (fun x => its (wide_product w x [])) g) scales in
  {| its := on_num (fun y => at_exponent (exp y + group_exponent w) y) v;
     alive := match e with Some _ => true | None => zero_by_scale w && negb (existsb nought scales) end |}.

Definition wide_terms (w : wide_design) (b : list element) : list term :=
  match cutting_of (base w) with
  | Groups size => map (wide_group w) (cut_list (length b) size b)
  | _ => map (fun x => wide_product w x (scaled_by x)) b
  end.

(** The word of a block's sum, and the c that it is to the next block. *)
Definition wide_block (w : wide_design) (state : Z * val) (b : list element) : Z * val :=
  let d := base w in
  let zeros g := forallb (fun x => g x =? 0) b in
  if skips d && (zeros a_word || zeros b_word) then state else
  let r := eval_wide (c_rule d) (wide_terms w b) (flush (c_rule d) (snd state)) (order w) in
  let word := encode (d_format d) (nan_word d) (its r) in
  (word, decode (again w) word).

Definition compute_wide (w : wide_design) (x : words) : Z :=
  let d := base w in
  let xs := elements d x in
  fst (fold_left (wide_block w) (cut_list (length xs) (block d) xs) (c_word x, decode (c_format d) (c_word x))).
