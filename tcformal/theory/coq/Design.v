(** A design: the parameters of one unit's arithmetic by stage (factors, products, summation, special values), and
    [compute], the function from the words of a dot product to the word of its result.

    Sources are cited by the tags of the project's list of sources. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec.
Import ListNotations.
Open Scope Z_scope.

(** * Factors *)

(** What a subnormal operand counts as. *)
Inductive flush_rule :=
  | Kept              (** itself *)
  | PositiveZero      (** +0 (XIE Algorithm 1) *)
  | SignedZero        (** a zero of its sign *)
  | HiddenBit.        (** a number with that bit at exponent code 0 (Vortex, VX_tcu_tfr_align.sv) *)

Definition is_subnormal (x : num) : bool := negb (is_zero x) && (Z.log2 (sig x) <? frac x).

Definition flush (r : flush_rule) (v : val) : val :=
  match v with
  | Num x =>
      if negb (is_subnormal x) then v else
      match r with
      | Kept => v
      | PositiveZero => Num {| neg := false; sig := 0; exp := exp x; frac := frac x |}
      | SignedZero => Num {| neg := neg x; sig := 0; exp := exp x; frac := frac x |}
      | HiddenBit => Num {| neg := neg x; sig := sig x + 2 ^ frac x; exp := exp x - 1; frac := frac x |}
      end
  | _ => v
  end.

(** A subnormal factor with a leading 1, and so a lower exponent. *)
Definition normalised (x : num) : num :=
  if is_subnormal x
  then let up := frac x - Z.log2 (sig x) in
       {| neg := neg x; sig := sig x * 2 ^ up; exp := exp x - up; frac := frac x |}
  else x.

(** The same number with another exponent. *)
Definition at_exponent (e : Z) (x : num) : num :=
  {| neg := neg x; sig := sig x; exp := e; frac := frac x + (e - exp x) |}.

(** The exponent rounded down to a multiple of [step], counted from that of code 0; the significand goes up instead
    (NVDLA, NV_NVDLA_cmac.h, cal_fp16_exp). *)
Definition stepped (step : Z) (f : format) (x : num) : num :=
  let up := (exp x + bias f) mod step in
  {| neg := neg x; sig := sig x * 2 ^ up; exp := exp x - up; frac := frac x |}.

(** The least exponent of a format's numbers. *)
Definition least_exponent (f : format) : Z := if has_zero f then 1 - bias f else - bias f.

(** A number with the exponent that it has in another format, which holds it. *)
Definition in_format (f : format) (x : num) : num :=
  at_exponent (if is_zero x then least_exponent f else Z.max (own_exponent x) (least_exponent f)) x.

Definition on_num (g : num -> num) (v : val) : val := match v with Num x => Num (g x) | _ => v end.

(** * Roundings of single values *)

(** Fixed point: [whole] bits above the binary point, sign apart, and [places] below it, in two's complement; a
    number outside is an Inf, or taken modulo the range (Hexagon HMX, hmx_fp16_mac and hmx_fp16_cvt). *)
Record fixed_point := { fixed_mode : mode; whole : Z; places : Z; wraps : bool }.

Definition fixed_convert (x : fixed_point) (s : bool) (n u : Z) : val :=
  let width := whole x + places x + 1 in
  let r := round_div (fixed_mode x) n (- places x - u) in
  let r := if wraps x then wrap width r else r in
  if wrap width r =? r
  then Num {| neg := r <? 0; sig := Z.abs r; exp := whole x; frac := whole x + places x |}
  else Inf (if n =? 0 then s else n <? 0).

(** What a sum, or a product, is rounded to. *)
Inductive rounding := Floating (c : conversion) | Fixed (x : fixed_point).

Definition rounding_mode (r : rounding) : mode := match r with Floating c => rho c | Fixed x => fixed_mode x end.

Definition round_to (r : rounding) : bool -> Z -> Z -> val :=
  match r with Floating c => convert c | Fixed x => fixed_convert x end.

Definition round_num (r : rounding) (x : num) : val := round_to r (neg x) (signed x) (lsb x).

(** A +0 as partial sums of this rounding are. *)
Definition zero_of (r : rounding) : val :=
  Num match r with
      | Floating c => {| neg := false; sig := 0; exp := emin c; frac := p c |}
      | Fixed x => {| neg := false; sig := 0; exp := whole x; frac := whole x + places x |}
      end.

(** * Products (XIE Algorithms 1, 7 and 8, step 1, §4.2) *)

Record product_rule := {
  of_a : flush_rule; of_b : flush_rule;    (** what subnormals of A and B count as *)
  normalise_factors : bool;                (** subnormal factors are normalised before they are multiplied *)
  exponent_step : Z;                       (** what exponents of factors are multiples of; 1: of nothing *)
  zero_terms : option Z;                   (** a zero factor, and a zero c, counts as 1 with this exponent in all
                                               (Vortex, VX_tcu_tfr_mul_join.sv) *)
  odd_negated : bool;                      (** products of odd k are subtracted (AMX-COMPLEX) *)
  even_negated : bool;                     (** those of even k *)
  product_limit : option Z;                (** a product of 2^this and more is an Inf (XIE Algorithm 10) *)
  product_rounding : option rounding       (** the rounding of each product; [None]: they are exact *)
}.

(** A zero as a 1 of its sign. *)
Definition as_one (x : num) : num :=
  if is_zero x then {| neg := neg x; sig := 2 ^ frac x; exp := exp x; frac := frac x |} else x.

Definition with_exponent (e : Z) (x : num) : num := {| neg := neg x; sig := sig x; exp := e; frac := frac x |}.

(** A zero as the number that zero terms count as. *)
Definition zero_as (z : option Z) (one : num) (v : val) : val :=
  match v, z with
  | Num x, Some e => if is_zero x then Num (with_exponent e one) else v
  | _, _ => v
  end.

Definition negate (v : val) : val :=
  match v with
  | Num x => Num {| neg := negb (neg x); sig := sig x; exp := exp x; frac := frac x |}
  | Inf s => Inf (negb s)
  | NaN => NaN
  end.

(** A factor as the multiplier takes it. *)
Definition factor (q : product_rule) (r : flush_rule) (v : val) : val :=
  let v := flush r v in if normalise_factors q then on_num normalised v else v.

(** Whether the product of k is subtracted. *)
Definition subtracted (q : product_rule) (k : Z) : bool := if Z.odd k then odd_negated q else even_negated q.

(** The product of two factors and of the scales that act on it. *)
Definition scaled_product (q : product_rule) (a b : val) (k : Z) (scales : list val) : val :=
  let v := zero_as (zero_terms q) (times (as_one (num_of a)) (as_one (num_of b))) (product a b) in
  let v := if subtracted q k then negate v else v in
  let v := fold_left product scales v in
  match v with
  | Num x =>
      let over := match product_limit q with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end in
      if over then Inf (neg x) else match product_rounding q with Some r => round_num r x | None => v end
  | _ => v
  end.

(** ** Products in pieces (Gaudi 2 and 3, fma_mul_add_tree_n) *)

(** The digits of a significand of [t + 1] bits in base 2^[size], the lowest first, with their fraction bits. *)
Definition digits (size t s : Z) : list (Z * Z) :=
  map (fun i => (s / 2 ^ (size * i) mod 2 ^ size, t - size * i))
      (map Z.of_nat (seq 0 (Z.to_nat (t / size + 1)))).

Fixpoint numbered {A} (i : nat) (l : list A) : list (nat * A) :=
  match l with x :: r => (i, x) :: numbered (S i) r | [] => [] end.

(** A product as the products of its factors' digits, each with the exponent of the whole; those whose numbers add up
    to less than [dropped] are left out. *)
Definition pieces (size : Z) (dropped : nat) (a b : num) (x : num) : list num :=
  if is_zero x then [x] else
  flat_map (fun p => flat_map (fun q =>
      if (dropped <=? fst p + fst q)%nat
      then [{| neg := neg x; sig := fst (snd p) * fst (snd q); exp := exp x; frac := snd (snd p) + snd (snd q) |}]
      else [])
    (numbered 0 (digits size (frac b) (sig b)))) (numbered 0 (digits size (frac a) (sig a))).

(** * Fused sums *)

(** [Spec.sum_numbers] with a unit from elsewhere and any rounding: [sum_numbers d = sum_at d (Floating (out d)) u]
    where [u] is [unit_of d]. *)
Definition held (d : sum) (n : Z) : Z :=
  match carry_bits d, fraction_bits d with Some k, Some f => wrap (1 + (f + 1 + k)) n | _, _ => n end.

Definition sum_at (d : sum) (r : rounding) (u : Z) (ts : list num) : val :=
  let ns := map (cut (alignment d) u) ts in
  let n := held d (zsum ns) in round_to r (sign_of (rounding_mode r) n ts ns) n u.

(** A fused sum, and what it is rounded to where that is no conversion of its own. *)
Inductive stage := Stage (d : sum) | FixedStage (d : sum) (x : fixed_point).

Definition stage_rounding (s : stage) : rounding := match s with Stage d => Floating (out d) | FixedStage _ x => Fixed x end.

Definition on_numbers (g : list num -> val) (vs : list val) : val :=
  match numbers vs with Some ts => g ts | None => special_sum vs end.

Definition add (s : stage) (vs : list val) : val :=
  match s with
  | Stage d => sum_values d vs
  | FixedStage d x => on_numbers (fun ts => sum_at d (Fixed x) (unit_of d ts) ts) vs
  end.

(** ** Groups (GST-FDPA: XIE Algorithm 9, step 1; MMA-Sim 2.1.1, e_zero of groups) *)

(** The exact sum of a group's products times its scales, as one term; and the exponent with which it takes part in
    the largest one where it is 0 though not all of its products are. *)
Definition group_term (m : mode) (ps : list val) (scales : list val) : val * option Z :=
  let one := match numbers ps with
    | None => special_sum ps
    | Some ts =>
        let u := least_lsb ts in
        let ns := map (cut RZ u) ts in
        let n := zsum ns in
        Num {| neg := sign_of m n ts ns; sig := Z.abs n; exp := 0; frac := - u |}
    end in
  let v := fold_left product scales one in
  let live := existsb (fun x => match x with Num y => negb (is_zero y) | _ => false end) ps in
  let scaled := forallb (fun x => match x with Num y => negb (is_zero y) | _ => false end) scales in
  match one, v with
  | Num x, Num y => (v, if is_zero x && live && scaled then Some (exp y) else None)
  | _, _ => (v, None)
  end.

(** A sum in whose largest exponent another one, [e], takes part. *)
Definition add_from (e : option Z) (s : stage) (vs : list val) : val :=
  match e, s with
  | None, _ => add s vs
  | Some _, (Stage d | FixedStage d _) =>
      on_numbers (fun ts =>
        let u := match fraction_bits d with
          | None => least_lsb ts
          | Some f => match omax e (largest d ts) with None => 0 | Some e => e - f end
          end in sum_at d (stage_rounding s) u ts) vs
  end.

(** * Sums that keep something of what alignment cuts off *)

(** Sticky: one bit below the magnitude of the sum; of a sum with carry bits the lowest number is a -0 (Vortex,
    VX_tcu_tfr_align.sv and VX_tcu_tfr_norm_round.sv). *)
Definition sticky_sum (d : sum) (ts : list num) : val :=
  let u := unit_of d ts in
  let ns := map (cut (alignment d) u) ts in
  let n := held d (zsum ns) in
  let s := sign_of (rho (out d)) n ts ns in
  let lost := existsb (fun x => negb (cut RZ u x * 2 ^ Z.max 0 (u - lsb x) =? signed x * 2 ^ Z.max 0 (lsb x - u))) ts in
  let lowest := match carry_bits d, fraction_bits d, largest d ts with
    | Some k, Some f, Some _ => n =? - 2 ^ (f + 1 + k) | _, _, _ => false end in
  if lowest
  then Num {| neg := match zsign (out d) with SumSign => true | _ => false end; sig := 0; exp := emin (out d); frac := p (out d) |}
  else if lost && negb (n =? 0)
  then let low := p (out d) + 1 + deciding_bits (rho (out d)) in convert (out d) s (n * 2 ^ low + Z.sgn n) (u - low)
  else convert (out d) s n u.

(** Jammed: signs are counted from the largest term's; what the floors lose is a fraction of a unit, in eighths, and
    the sum is cut toward zero (Esperanto emulator, fpu/tensors.cpp, f32_add3). *)
Definition jammed_sum (d : sum) (ps : list num) (c : num) : val :=
  let ts := ps ++ [c] in
  let s0 := sign_of (rho (out d)) 0 ts (map (fun _ => 0) ts) in
  match largest d ts with
  | None => convert (out d) s0 0 0
  | Some e =>
      let u := unit_of d ts in
      let at_top x := match term_exponent d x with Some e' => e' =? e | None => false end in
      let c_first := at_top c in
      let top := if c_first then c else match filter at_top ps with x :: _ => x | [] => c end in
      let flip x := {| neg := xorb (neg x) (neg top); sig := sig x; exp := exp x; frac := frac x |} in
      let floor x := cut RD u (flip x) in
      let lost x := negb (floor x =? cut RU u (flip x)) in
      let last := if c_first then hd c ps else c in
      let inexact := existsb lost ts in
      let eighths := 8 * zsum (map floor ts)
        + (if inexact then if (signed (flip last) <? 0) && lost last then 5 else 1 else 0) in
      let n := if Z.abs eighths <? 8 then (eighths + 4) / 8 else Z.sgn eighths * (Z.abs eighths / 8) in
      let s := if eighths =? 0 then sign_of (rho (out d)) 0 ts (map signed ts) else xorb (eighths <? 0) (neg top) in
      convert (out d) s (if neg top then - n else n) u
  end.

(** * c added to a sum that is not rounded (Gaudi 2, fma_mul_add_tree_n, add_C_before_norm) *)

(** An exact sum of a count of units and a number. *)
Definition plus (c : conversion) (n u : Z) (s : bool) (x : num) : val :=
  let w := Z.min u (lsb x) in
  let a := n * 2 ^ (u - w) in
  let b := signed x * 2 ^ (lsb x - w) in
  let zero := {| neg := s; sig := 0; exp := 0; frac := 0 |} in
  convert c (sign_of (rho c) (a + b) [zero; x] [a; b]) (a + b) w.

(** ** Products that are cut as the two numbers of a carry-save multiplier (NVDLA, NV_NVDLA_cmac.h, cal_fp16_booth) *)

(** Two rows with the sum of the given ones: of three, the odd places, and twice the majority. *)
Fixpoint saved_once (rows : list Z) : list Z :=
  match rows with
  | a :: b :: c :: r => Z.lxor a (Z.lxor b c) :: 2 * Z.lor (Z.land a b) (Z.lor (Z.land b c) (Z.land a c)) :: saved_once r
  | _ => rows
  end.

Fixpoint saved (fuel : nat) (rows : list Z) : list Z :=
  match fuel, rows with
  | S k, _ :: _ :: _ :: _ => saved k (saved_once rows)
  | _, _ => rows
  end.

(** The rows of 16 bits of Booth-recoded [y] times [x], the carries of negative rows apart. *)
Definition booth_rows (negative : bool) (x y : Z) : list (Z * Z) :=
  map (fun i =>
    let digit i := y / 4 ^ i mod 4 in
    let d := digit i + (if i =? 0 then 0 else digit (i - 1) / 2) - (if 2 <=? digit i then 4 else 0) in
    let d := if negative then - d else d in
    ((if d <? 0 then 2 ^ 16 - 1 else 2 ^ 16) + d * x, if d <? 0 then 1 else 0))
    [0; 1; 2; 3; 4; 5; 6; 7].

Definition cut_in_halves (u : Z) (negative : bool) (x y : num) : Z :=
  let rows := booth_rows negative (sig x) (sig y) in
  let row i := fst (nth (Z.to_nat i) rows (0, 0)) in
  let carry i := snd (nth (Z.to_nat i) rows (0, 0)) in
  let half first :=
    saved 9 (map (fun i => 4 ^ i * row i + (if first <? i then 4 ^ (i - 1) * carry (i - 1) else 0))
                 [first; first + 1; first + 2; first + 3] ++ [4 ^ (first + 3) * carry (first + 3)]) in
  let down n := round_div RD n (u - (lsb x + lsb y)) in
  zsum (map down (saved 9 (half 0 ++ half 4))) - down (zsum (map (fun i => 4 ^ i * 2 ^ 16) [0; 1; 2; 3; 4; 5; 6; 7])).

(** * Sums that round down (CDNA3: XIE Algorithms 10 and 11; MMA-Sim 2.1.1 for F2 + 1 and the normalised sum) *)

Record round_down := {
  products_sum : sum;      (** the truncated sum of products; its conversion is that of the whole *)
  sum_bits : Z;            (** fraction bits of the sum with c [XIE F_2] *)
  sum_mode : mode;         (** how the addends are cut: RD, or RZ (XIE §6.2.4) *)
  cut_again : bool;        (** the sum is cut as well, and one more bit of the products' sum kept before it *)
  two_sums : bool          (** even and odd products apart: GTR-FDPA *)
}.

Definition down_bits (d : round_down) : Z := match fraction_bits (products_sum d) with Some f => f | None => 0 end.

(** A sum that is not yet rounded. *)
Record partial := { count : Z; unit : Z; top : option Z; sign : bool }.

Definition truncated (d : round_down) (ps : list num) : partial :=
  let s := products_sum d in
  let n := total s ps in
  {| count := n; unit := unit_of s ps; top := largest s ps; sign := sign_of (rho (out s)) n ps (counts s ps) |}.

Definition zero_with_sign (s : bool) : num := {| neg := s; sig := 0; exp := 0; frac := 0 |}.

Fixpoint every_second {A} (l : list A) : list A :=
  match l with a :: _ :: r => a :: every_second r | _ => l end.
Definition evens {A} (l : list A) : list A := every_second l.
Definition odds {A} (l : list A) : list A := every_second (tl l).

(** Even and odd products summed apart, both sums rounded down at the larger exponent. *)
Definition sum_of_sides (d : round_down) (x y : partial) : partial :=
  let e := omax (top x) (top y) in
  let u := match e with Some e => e - down_bits d | None => 0 end in
  let a := round_div RD (count x) (u - unit x) in
  let b := round_div RD (count y) (u - unit y) in
  {| count := a + b; unit := u; top := e;
     sign := sign_of (rho (out (products_sum d))) (a + b) [zero_with_sign (sign x); zero_with_sign (sign y)] [a; b] |}.

Definition add_c (d : round_down) (x : partial) (c : num) : val :=
  let o := out (products_sum d) in
  let e := match top x with Some e => Z.max e (exp c) | None => exp c end in
  let u1 := e - (sum_bits d + (if cut_again d then 1 else 0)) in
  let u2 := e - down_bits d in
  let a := round_div (sum_mode d) (count x) (u1 - unit x) in
  let b := if two_sums d && (exp c <? u2 - 1) then 0 else cut (sum_mode d) u2 c in
  let n := a + b * 2 ^ (u2 - u1) in
  let s := sign_of (rho o) n [zero_with_sign (sign x); c] [a; b] in
  if cut_again d
  then let u3 := Z.max (Z.log2 (Z.abs n) + u1) (emin o) - sum_bits d in convert o s (round_div (sum_mode d) n (u3 - u1)) u3
  else convert o s n u1.

Definition round_down_sum (d : round_down) (ps : list num) (c : num) : val :=
  add_c d (if two_sums d && (1 <? Z.of_nat (length ps))
           then sum_of_sides d (truncated d (evens ps)) (truncated d (odds ps))
           else truncated d ps) c.

(** * Sums whose c is aligned in another way than the products (RDNA3, RDNA4: ROCm emulator, gfx11_dot2.h and
      gfx12_dot.h) *)

Record frame := {
  frame_bits : Z;                  (** fraction bits of products below their exponent *)
  c_bits : Z;                      (** those of c *)
  frame_mode : mode;               (** how terms are cut *)
  frame_zero : zero_rule;          (** the exponent of zeros *)
  complement : bool;               (** products of the other sign than c's, zeros too, are a unit further away from it:
                                       their magnitudes' complements are added *)
  drops_c : bool;                  (** a c of less than a unit is dropped where a unit exceeds 2^emin *)
  group_size : option nat;         (** products that are aligned among themselves, cut, added and cut again *)
  first_rounding : option conversion;   (** a rounding before the last one *)
  frame_out : conversion
}.

(** The exponent of the unit that a term asks for. *)
Definition grid_of (d : frame) (bits : Z) (zeros : bool) (x : num) : option Z :=
  if negb (is_zero x) then Some (exp x - bits) else
  if negb zeros then None else
  match frame_zero d with ZeroNone => None | ZeroOwn => Some (exp x - bits) | ZeroAt e => Some (e - frame_bits d) end.

Definition omax_list (l : list (option Z)) : option Z := fold_right omax None l.

Definition frame_counts (d : frame) (g : Z) (ps : list num) (c : num) : list Z :=
  match group_size d with
  | Some size =>
      map (fun group =>
        let live := filter (fun x => negb (is_zero x)) group in
        let u := match omax_list (map (fun x => Some (exp x)) live) with Some e => e - frame_bits d | None => g end in
        round_div (frame_mode d) (zsum (map (cut (frame_mode d) u) live)) (g - u)) (cut_list (length ps) size ps)
  | None =>
      map (fun x => cut (frame_mode d) g x
        + (if complement d && xorb (neg x) (neg c) then if neg c then 1 else -1 else 0)) ps
  end.

Definition framed_sum (d : frame) (ps : list num) (c : num) : val :=
  let grouped := match group_size d with Some _ => true | None => false end in
  let g := match omax_list (grid_of d (c_bits d) true c :: map (grid_of d (frame_bits d) (negb grouped)) ps) with
    | Some g => g | None => 0 end in
  let gone := drops_c d && (emin (frame_out d) <? g) && (cut RZ g c =? 0) in
  let ts := ps ++ [c] in
  let ns := if forallb is_zero ts then [0] else frame_counts d g ps c ++ [if gone then 0 else cut (frame_mode d) g c] in
  let n := zsum ns in
  match first_rounding d with
  | None => convert (frame_out d) (sign_of (rho (frame_out d)) n ts ns) n g
  | Some f => match convert f (sign_of (rho f) n ts ns) n g with
              | Num x => round_num (Floating (frame_out d)) x
              | v => v
              end
  end.

(** * Orders of summation *)

(** A tree of fused sums: products by k, c, a +0 of the sum's own kind, sums. *)
Inductive steps := Product (k : nat) | C | PlusZero | Step (s : stage) (l : list steps).

(** How the products of a block are summed before c is added to them (FASI and VALPEY §4.3; XIE Algorithm 2). *)
Inductive inner :=
  | Together          (** in one sum *)
  | Chain             (** one after the other *)
  | Pairwise          (** neighbours, level by level *)
  | TwoChains         (** even and odd ones in a chain from +0 each, then their sum (Intel SDM, TDPBF16PS) *)
  | PairChains.       (** sums of neighbours, of which even and odd ones in a chain each (Intel SDM, TDPBF8PS) *)

Inductive summation :=
  | OneSum (d : stage)                       (** products and c in one sum: T-FDPA, E-FDPA, FMA *)
  | StickySum (d : sum)
  | JammedSum (d : sum)
  | Framed (d : frame)
  | RoundedDown (d : round_down)
  | CAfter (d : sum) (halves : bool)         (** c is added to the products' sum before that is rounded *)
  | FromC (step last : stage)                (** a chain that starts with c (XIE Algorithm 4) *)
  | CLast (how : inner) (step last : stage)  (** products first, then c *)
  | InSteps (root : steps).

Definition chain_results (s last : stage) (start : val) (ps : list val) : list val :=
  (fix go (x : val) (l : list val) := match l with
     | [] => []
     | [t] => [add last [x; t]]
     | t :: r => let y := add s [x; t] in y :: go y r
     end) start ps.

Definition chain_of (s : stage) (start : val) (ps : list val) : val := fold_left (fun x t => add s [x; t]) ps start.

Fixpoint add_pairs (s : stage) (l : list val) : list val :=
  match l with a :: b :: r => add s [a; b] :: add_pairs s r | _ => l end.

Fixpoint pairwise (fuel : nat) (s : stage) (l : list val) : val :=
  match fuel, l with
  | _, [v] => v
  | S k, _ => pairwise k s (add_pairs s l)
  | O, _ => add s l
  end.

Definition two_chains (s : stage) (ps : list val) : val :=
  let zero := zero_of (stage_rounding s) in add s [chain_of s zero (evens ps); chain_of s zero (odds ps)].

Definition inner_sum (how : inner) (s : stage) (e : option Z) (ps : list val) : val :=
  match how with
  | Together => add_from e s ps
  | Chain => match ps with [] => zero_of (stage_rounding s) | x :: r => chain_of s x r end
  | Pairwise => pairwise (length ps) s ps
  | TwoChains => two_chains s ps
  | PairChains => two_chains s (add_pairs s ps)
  end.

(** The sums of a tree; a subnormal partial sum counts as a subnormal c does. *)
Fixpoint eval_steps (r : flush_rule) (ps : list val) (c : val) (t : steps) : val :=
  match t with
  | Product k => nth k ps NaN
  | C => c
  | PlusZero => NaN
  | Step s l => add s (map (fun x => let v := eval_steps r ps c x in
      match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end) l)
  end.

(** The sum of the terms of a block and c; [e] as in [add_from]; [fs]: the factors, where a product is cut in halves. *)
Definition block_sum (how : summation) (r : flush_rule) (e : option Z) (fs : list (num * num)) (ps : list val) (c : val) : val :=
  match how with
  | OneSum s => add_from e s (ps ++ [c])
  | StickySum d => on_numbers (sticky_sum d) (ps ++ [c])
  | JammedSum d => on_numbers (fun _ => jammed_sum d (map num_of ps) (num_of c)) (ps ++ [c])
  | Framed d => on_numbers (fun _ => framed_sum d (map num_of ps) (num_of c)) (ps ++ [c])
  | RoundedDown d => on_numbers (fun _ => round_down_sum d (map num_of ps) (num_of c)) (ps ++ [c])
  | CAfter d halves => on_numbers (fun _ =>
      let ts := map num_of ps in
      let u := unit_of d ts in
      let ns := if halves
        then map (fun xf => let '(x, (a, b)) := xf in if is_zero x then 0 else cut_in_halves u (neg x) a b) (combine ts fs)
        else counts d ts in
      let n := held d (zsum ns) in
      plus (out d) n u (sign_of (rho (out d)) n ts ns) (num_of c)) (ps ++ [c])
  | FromC s last => List.last (chain_results s last c ps) c
  | CLast how s last => add last [inner_sum how s e ps; c]
  | InSteps root => eval_steps r ps c root
  end.

(** * The words of NaN results *)

Inductive nan_rule :=
  | OneWord                          (** every NaN is the design's (XIE §4.2) *)
  | FirstOperand | BSumA | ASumB     (** each step returns its first NaN operand, made quiet: of a, b and the sum; of b,
                                         the sum and a; of a, the sum and b (Intel SDM, VDPBF16PS; QEMU, for Power) *)
  | ProductsThenC (w : Z).           (** [w] where a factor is a NaN; else the design's for an invalid operation among
                                         the products; else c's, made quiet (ROCm emulator) *)

(** The quiet NaN of [t] with a NaN's sign and fraction, the fraction aligned left (IEEE 754 §6.2.3). *)
Definition quiet (f t : format) (w : Z) : Z :=
  let body := w / 2 ^ ignored f in
  let s := if has_sign f then body / 2 ^ (ebits f + fbits f) else 0 in
  let moved := (body mod 2 ^ fbits f) * 2 ^ fbits t / 2 ^ fbits f in
  let half := 2 ^ (fbits t - 1) in
  ((s * 2 ^ ebits t + (2 ^ ebits t - 1)) * 2 ^ fbits t + (if moved <? half then moved + half else moved)) * 2 ^ ignored t.

Definition is_nan (v : val) : bool := match v with NaN => true | _ => false end.

Definition nan_of (f t : format) (w : Z) : option Z := if is_nan (decode f w) then Some (quiet f t w) else None.

Fixpoint first_some (l : list (option Z)) : option Z :=
  match l with Some x :: _ => Some x | None :: r => first_some r | [] => None end.

Definition in_order (r : nan_rule) (a b sum : option Z) : list (option Z) :=
  match r with BSumA => [b; sum; a] | ASumB => [a; sum; b] | _ => [a; b; sum] end.

Definition otherwise (w : Z) (o : option Z) : Z := match o with Some x => x | None => w end.

(** The NaN of a chain's last result; [sum]: that of its start; a step's operands, and its result. *)
Definition chain_nan (r : nan_rule) (default : Z) (sum : option Z) (l : list ((option Z * option Z) * val)) : option Z :=
  fold_left (fun w x => let '((a, b), v) := x in
    if is_nan v then Some (otherwise default (first_some (in_order r a b w))) else w) l sum.

(** The results of a chain from +0, step by step. *)
Definition results_from_zero (s : stage) (ps : list val) : list val :=
  chain_results s s (zero_of (stage_rounding s)) ps.

(** Of sums of pairs in two chains, even pairs first: the first NaN product's, or the default. *)
Fixpoint pairs_nan (default : Z) (s : stage) (x : val) (l : list ((option Z * option Z) * val)) : option Z :=
  match l with
  | (n1, p1) :: (n2, p2) :: r =>
      if is_nan p1 then Some (otherwise default (first_some [fst n1; snd n1])) else
      if is_nan p2 then Some (otherwise default (first_some [fst n2; snd n2])) else
      let y := add s [x; add s [p1; p2]] in
      if is_nan y then Some default else
      match r with _ :: _ :: rest => pairs_nan default s y rest | _ => None end
  | _ => None
  end.

(** The word of a block that ends as NaN; [ns]: the NaNs of its factors, [ps]: its products, [c], and c's NaN. *)
Definition block_nan (how : summation) (r : nan_rule) (default : Z)
    (ns : list (option Z * option Z)) (ps : list val) (c : val) (cw : option Z) : Z :=
  let steps := combine ns ps in
  match r with
  | OneWord => default
  | ProductsThenC w =>
      let has o := match o with Some _ => true | None => false end in
      if existsb (fun n => has (fst n) || has (snd n)) ns then w else
      if negb (forallb is_num ps) && is_nan (special_sum ps) then default else otherwise default cw
  | _ =>
      match how with
      | CLast Together s _ =>
          let both := [hd NaN ps; add s ps] in
          otherwise default (first_some [chain_nan r default None (combine ns both); cw])
      | CLast TwoChains s _ =>
          let side {A} (l : list A) := (evens l, odds l) in
          let chain n p := chain_nan r default None (combine n (results_from_zero s p)) in
          otherwise default (first_some [cw; chain (evens ns) (evens ps); chain (odds ns) (odds ps)])
      | CLast PairChains s _ =>
          let zero := zero_of (stage_rounding s) in
          otherwise default (first_some [cw; pairs_nan default s zero steps; pairs_nan default s zero (tl (tl steps))])
      | FromC s last => otherwise default (chain_nan r default cw (combine ns (chain_results s last c ps)))
      | OneSum s => otherwise default (chain_nan r default cw (combine ns (chain_results s s c ps)))
      | _ => default
      end
  end.

(** The word of a tree's sum that is a NaN, sums of at most one product. *)
Fixpoint steps_nan (r : nan_rule) (default : Z) (flushes_c : flush_rule)
    (ns : list (option Z * option Z)) (ps : list val) (c : val) (cw : option Z) (t : steps) {struct t} : option Z :=
  match t with
  | Step s l =>
      if negb (is_nan (eval_steps flushes_c ps c t)) then None else
      let inner := map (fun x => steps_nan r default flushes_c ns ps c cw x) l in
      let of_c := map (fun x => match x with C => cw | _ => None end) l in
      let factors := fold_left (fun n x => match x with Product k => nth k ns (None, None) | _ => n end) l (None, None) in
      Some (otherwise default (first_some (in_order r (fst factors) (snd factors) (first_some (of_c ++ inner)))))
  | _ => None
  end.

(** * Designs *)

(** How a product becomes terms of the sum. *)
Inductive cutting :=
  | Whole                                   (** it is one *)
  | Pieces (size : Z) (dropped : nat)       (** the products of its factors' digits *)
  | Groups (size : nat).                    (** the sum of so many is one, and scales act on that *)

(** A compiler's composition of calls: products by k in parts, each from the sum before, the first from +0; then c by a
    sum of its own (CUDA 13.0 SASS of fp8 mma.sync on sm_90). *)
Record composition := {
  parts : list (list nat);
  addition : sum;
  of_sum : flush_rule; of_c : flush_rule;   (** what subnormals of its two operands count as *)
  addition_nan : Z
}.

Record design := {
  a_format : format; b_format : format; c_format : format; d_format : format;
  scales : option (format * nat);     (** the format of scales, and how many consecutive k share one *)
  converted : option format;          (** factors are first converted to this format, exactly *)
  factors : product_rule;
  cutting_of : cutting;
  block : nat;                        (** products of one block; its result is the next one's c [XIE L] *)
  odd_first : bool;                   (** of two neighbours the odd one is first *)
  skips : bool;                       (** a block whose words of A, or of B, are all 0 leaves c as it is *)
  c_rule : flush_rule;                (** what a subnormal c counts as, the result of the block before too *)
  sums : summation;
  nan_word : Z;
  nans : nan_rule;
  composed : option composition
}.

(** The words of one dot product: factors, c, and scales. *)
Record words := { pairs : list (Z * Z); c_word : Z; scale_words : list (Z * Z) }.

(** One product: its k, the words of its factors, and the scales that act on it. *)
Record element := { index : Z; a_word : Z; b_word : Z; scaled_by : list val }.

Definition elements (d : design) (w : words) : list element :=
  map (fun kx => let '(k, (a, b)) := kx in
    {| index := Z.of_nat k; a_word := a; b_word := b;
       scaled_by := match scales d with
         | None => []
         | Some (f, n) => let s := nth (k / n)%nat (scale_words w) (0, 0) in [decode f (fst s); decode f (snd s)]
         end |}) (numbered 0 (pairs w)).

(** A factor from its word, and as the multiplier takes it. *)
Definition operand (d : design) (f : format) (w : Z) : val :=
  let v := decode f w in
  let v := match converted d with Some g => on_num (in_format g) v | None => v end in
  if exponent_step (factors d) =? 1 then v else on_num (stepped (exponent_step (factors d)) f) v.

Definition a_of (d : design) (x : element) : val := factor (factors d) (of_a (factors d)) (operand d (a_format d) (a_word x)).
Definition b_of (d : design) (x : element) : val := factor (factors d) (of_b (factors d)) (operand d (b_format d) (b_word x)).

(** Neighbours exchanged. *)
Fixpoint swapped {A} (l : list A) : list A := match l with a :: b :: r => b :: a :: swapped r | _ => l end.

(** The terms of a block, and the exponent as in [add_from]. *)
Definition terms (d : design) (b : list element) : list val * option Z :=
  let one x ss := scaled_product (factors d) (a_of d x) (b_of d x) (index x) ss in
  match cutting_of d with
  | Whole => (map (fun x => one x (scaled_by x)) b, None)
  | Pieces size dropped =>
      (flat_map (fun x => match one x (scaled_by x) with
        | Num y => map Num (pieces size dropped (num_of (a_of d x)) (num_of (b_of d x)) y)
        | v => [v]
        end) b, None)
  | Groups size =>
      let m := match sums d with
        | OneSum s | CLast _ s _ => rounding_mode (stage_rounding s) | _ => RNE end in
      let gs := map (fun g => group_term m (map (fun x => one x []) g)
                       (match g with x :: _ => scaled_by x | [] => [] end)) (cut_list (length b) size b) in
      (map fst gs, omax_list (map snd gs))
  end.

(** The factors of a block whose products are cut in halves. *)
Definition whole_factors (d : design) (b : list element) : list (num * num) :=
  match sums d with
  | CAfter _ true => map (fun x => (num_of (operand d (a_format d) (a_word x)), num_of (operand d (b_format d) (b_word x)))) b
  | _ => []
  end.

(** The value of a block's sum, and the word that it has if it is a NaN. *)
Definition block_step (d : design) (state : val * Z) (b : list element) : val * Z :=
  let '(v, w) := state in
  let zeros g := forallb (fun x => g x =? 0) b in
  if skips d && (zeros a_word || zeros b_word) then state else
  let b := if odd_first d then swapped b else b in
  let c := flush (c_rule d) v in
  let c := zero_as (zero_terms (factors d)) (as_one (num_of c)) c in
  let '(ps, e) := terms d b in
  let r := block_sum (sums d) (c_rule d) e (whole_factors d b) ps c in
  (r, if negb (is_nan r) then w else
      let ns := map (fun x => (nan_of (a_format d) (d_format d) (a_word x), nan_of (b_format d) (d_format d) (b_word x))) b in
      let cw := if is_nan c then Some w else None in
      match sums d, nans d with
      | _, OneWord => nan_word d
      | InSteps t, q => otherwise (nan_word d) (steps_nan q (nan_word d) (c_rule d) ns ps c cw t)
      | how, q => block_nan how q (nan_word d) ns ps c cw
      end).

(** The blocks of some elements in a chain from [start], whose word is that of a NaN. *)
Definition blocks (d : design) (xs : list element) (start : val * Z) : val * Z :=
  fold_left (block_step d) (cut_list (length xs) (block d) xs) start.

Definition start_of (d : design) (w : Z) : val * Z :=
  let c := decode (c_format d) w in
  (c, match nans d with OneWord => w | _ => if is_nan c then quiet (c_format d) (d_format d) w else w end).

Definition compute (d : design) (w : words) : Z :=
  let xs := elements d w in
  match composed d with
  | None => let '(v, n) := blocks d xs (start_of d (c_word w)) in encode (d_format d) n v
  | Some how =>
      let at_k k := nth k xs {| index := 0; a_word := 0; b_word := 0; scaled_by := [] |} in
      let part state ks := blocks d (map at_k ks) state in
      let r := fst (fold_left part (parts how) (decode (d_format d) 0, 0)) in
      encode (d_format d) (addition_nan how)
        (sum_values (addition how) [flush (of_sum how) r; flush (of_c how) (decode (c_format d) (c_word w))])
  end.
